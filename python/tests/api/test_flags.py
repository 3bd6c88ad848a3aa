"""Every flag of a verb is a keyword of its function, or stands in a list with the reason."""

import re
from pathlib import Path

import pytest

import assay
from assay import _options

HELP = Path(__file__).parents[3] / "tests" / "golden" / "help"
NAMES = {"eval": "evaluate"}
"""Functions whose names are not those of their verbs."""
VERBS = {
    "attribute": (assay.AttributeOptions, ()),
    "bench": (assay.BenchOptions, ()),
    "calibrate": (assay.CalibrateOptions, ()),
    "compare": (assay.CompareOptions, ()),
    "conform": (assay.ConformOptions, ()),
    "eval": (assay.EvaluateOptions, ()),
    "history": (assay.HistoryOptions, ()),
    "profile": (assay.ProfileOptions, ()),
    "reduce": (assay.ReduceOptions, ("run",)),
    "report": (assay.ReportOptions, ()),
    "run": (assay.RunOptions, ()),
    "runs": (assay.RunsOptions, ()),
}
"""The options of each verb, and flags that are arguments of their own."""

IMPORT = "belongs to files of FAI-PEP, which only the command line runs"

WITHOUT_SENSE = {
    "--help": "help(assay.bench)",
    "--format": "a result is all formats at once",
    "--out": "save_html, save_json, report=",
    "--quiet": "a library does not print",
    "--verbose": "lengthens a printed report; a value holds everything",
    "--explain": "a text about one commit; a History has all that it is made from",
    "--dry-run": "prints a plan and stops; nothing of it is a value",
    **dict.fromkeys(("--program", "--file", "--root", "--model-cache", "--mirror"), IMPORT),
    **dict.fromkeys(("--set", "--allow-commands", "--as"), IMPORT),
}


def flags_of_verb(verb):
    """Each flag of a verb's help with its other spellings."""
    flags = []
    for line in (HELP / f"{verb}.txt").read_text().splitlines():
        found = re.match(r"  ((?:--?[a-z][\w-]*,\s*)*--?[a-z][\w-]*)(?:\s|:|=|\{|$)", line)
        if found:
            spellings = {word.strip() for word in found[1].split(",")}
            flags.append({word for word in spellings if word.startswith("--")})
    return flags


@pytest.mark.parametrize("verb", VERBS)
def test_each_flag_is_a_keyword(verb):
    options, arguments = VERBS[verb]
    flags = flags_of_verb(verb)
    assert {"--store"} in flags
    names = {*options.__annotations__, *arguments}
    reached = {_options.flag_from_name(name) for name in names}
    missing = [flag for flag in flags if not flag & {*reached, *WITHOUT_SENSE}]
    assert missing == []


@pytest.mark.parametrize("verb", VERBS)
def test_each_keyword_is_a_flag(verb):
    options, arguments = VERBS[verb]
    known = {spelling for flag in flags_of_verb(verb) for spelling in flag}
    names = {*options.__annotations__, *arguments}
    assert {_options.flag_from_name(name) for name in names} <= known


@pytest.mark.parametrize("verb", VERBS)
def test_help_explains_each_keyword(verb):
    text = getattr(assay, NAMES.get(verb, verb)).__doc__
    options, _ = VERBS[verb]
    assert sorted(name for name in options.__annotations__ if f"`{name}`" not in text) == []


@pytest.mark.parametrize(
    ("given", "word"),
    [("250ms", "250ms"), (2, "2s"), (0.25, "0.25s"), (1e-6, "0.000001s"), (90.0, "90s")],
)
def test_a_duration_is_text_or_seconds(given, word):
    assert _options.flags_from_options({"time_budget": given}) == [f"--time-budget={word}"]
    assert _options.flags_from_options({"for_": given}) == [f"--for={word}"]


def test_numbers_of_numpy_are_written_as_those_of_python():
    import numpy as np

    values = {"a": np.True_, "b": np.int64(2), "c": np.float32(0.5), "d": [np.False_, True]}
    flags = _options.flags_from_options(
        {"options": values, "list_only": np.True_, "all": np.False_}
    )
    words = ["a=true", "b=2", "c=0.5", "d=false,true"]
    assert flags == [*(f"--option={word}" for word in words), "--list-only"]
