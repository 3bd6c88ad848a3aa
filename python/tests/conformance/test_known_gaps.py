"""The lists of known gaps that come with Assay: they speak of cases and recipes that there are."""

import fnmatch
import json
from functools import cache
from pathlib import Path

import pytest

from assay.conformance.listing import SUITES
from assay.toolchain.recipes.recipes import preset_document

FOLDER = Path(__file__).parents[2] / "assay" / "data" / "conformance"
FILES = sorted(FOLDER.glob("*.json"))
PATTERNS = ("unsupported", "undelegated", "relaxed_bounds")
FIELDS = {"case": "name"}
"""Fields of a case by the keys of patterns, where their names differ."""


@cache
def all_cases():
    return [case for cases in SUITES.values() for case in cases()]


def is_match(match, case):
    return all(
        fnmatch.fnmatchcase(getattr(case, FIELDS.get(key, key)), pattern)
        for key, pattern in match.items()
    )


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def test_there_are_lists_of_the_baselines():
    names = {path.stem for path in FILES}
    assert {"executorch-portable", "executorch-xnnpack-fp32"} <= names


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_list_is_of_a_recipe_that_there_is(path):
    recipe = read(path)["recipe"]
    assert path.stem == recipe.replace("/", "-")
    assert recipe in {one["name"] for one in preset_document()["recipes"]}


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_known_failure_is_of_a_case_that_there_is(path):
    names = [case.name for case in all_cases()]
    listed = [entry["case"] for entry in read(path)["expected_failures"]]
    assert [pattern for pattern in listed if not fnmatch.filter(names, pattern)] == []
    twins = [(entry["case"], entry.get("processor")) for entry in read(path)["expected_failures"]]
    assert len(twins) == len(set(twins))


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_pattern_means_a_case_that_there_is(path):
    document = read(path)
    entries = [entry["match"] for key in PATTERNS for entry in document.get(key, [])]
    means_none = [
        match for match in entries if not any(is_match(match, case) for case in all_cases())
    ]
    assert means_none == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_reason_is_in_words_and_no_message(path):
    document = read(path)
    entries = [
        *document["expected_failures"],
        *(e for key in PATTERNS for e in document.get(key, [])),
    ]
    for entry in entries:
        assert len(entry["reason"]) > 15, entry
        assert "error_bound_ratio" not in entry["reason"], entry
        assert "not looked into" not in entry["reason"], entry
