"""Literal types list exactly the words that the C++ sources and the help know."""

import re
import typing
from pathlib import Path

import pytest

import assay
from assay import _literals
from assay._execute import result_from_text

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "golden"
NAMES = re.compile(r"kEnumNames<(\w+)> *=\s*std::to_array<[^(]*\((.*?)\);", re.DOTALL)
NOT_ENUMS = {
    "Direction": "direction > 0 ?",
    "ReductionEnd": 'stopped_by = "minimal";  ///< Or "budget", "interrupted".',
    "RunState": '"finished" : listing.is_in_use ? "running" : "stopped"',
}
"""Types without an enumeration, and the code that writes their values."""
LITERALS = sorted(name for name in vars(_literals) if name[0].isupper() and name != "Literal")


@pytest.fixture(scope="module")
def sources():
    """The texts of the headers and of the files that NOT_ENUMS quotes, wherever they are."""
    files = sorted((ROOT / "src").rglob("*.h")) + sorted((ROOT / "src").rglob("*.cpp"))
    return [path.read_text() for path in files if not path.name.endswith("_test.cpp")]


@pytest.fixture(scope="module")
def enums(sources):
    return {
        name: set(re.findall(r'"([^"]*)"', body))
        for text in sources
        for name, body in NAMES.findall(text)
    }


@pytest.mark.parametrize("name", [name for name in LITERALS if name not in NOT_ENUMS])
def test_a_literal_type_has_the_names_of_its_enumeration(enums, name):
    assert set(typing.get_args(getattr(assay, name))) == enums[name]


@pytest.mark.parametrize("name", NOT_ENUMS)
def test_code_that_writes_words_without_an_enumeration_is_as_quoted(sources, name):
    assert any(NOT_ENUMS[name] in text for text in sources)
    words = [word for word in typing.get_args(getattr(assay, name)) if isinstance(word, str)]
    assert [word for word in words if f'"{word}"' not in NOT_ENUMS[name]] == []


def test_every_literal_type_is_exported():
    assert set(LITERALS) <= set(assay.__all__)


@pytest.mark.parametrize("option", ["expand", "require_delegation", "suite", "tier"])
def test_an_option_with_a_literal_type_has_the_choices_of_the_help(option):
    text = (ROOT / "tests" / "golden" / "help" / "conform.txt").read_text()
    choices = re.search(rf"--{option.replace('_', '-')} \{{(.*?)\}}", text)
    hint = typing.get_type_hints(assay.ConformOptions)[option]
    assert set(typing.get_args(hint)) == set(choices[1].split(","))


def test_a_word_of_another_version_is_an_error_that_names_it():
    text = (GOLDEN / "report/conformance.json").read_text().replace('"fail_numeric"', '"melted"')
    with pytest.raises(
        assay.UnavailableError, match="has 'melted' where one of pass, vac"
    ) as caught:
        result_from_text(text)
    assert caught.value.code == "unsupported"


@pytest.mark.parametrize("name", ["report/conformance", "history/history", "report/sample"])
def test_golden_documents_have_words_of_the_types_only(name):
    text = (GOLDEN / f"{name}.json").read_text()
    assert len(result_from_text(text).rows) > 0
