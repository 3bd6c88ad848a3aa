"""Every flag of a verb is a keyword of its function, or stands in a list with the reason."""

import re
from pathlib import Path

import pytest

import assay
from assay import _flags

HELP = Path(__file__).parents[3] / "tests" / "golden" / "help"
VERBS = {
    "attribute": ((assay.AttributeOptions,), ()),
    "bench": ((assay.BenchOptions,), ()),
    "calibrate": ((assay.CalibrateOptions,), ()),
    "compare": ((assay.CompareOptions, assay.CompareRunsOptions), ()),
    "conform": ((assay.ConformOptions, assay.CoverageOptions), ("coverage",)),
    "eval": ((assay.EvaluateOptions,), ()),
    "history": ((assay.HistoryOptions,), ()),
    "profile": ((assay.ProfileOptions,), ()),
    "reduce": ((assay.ReduceOptions, assay.ReduceRunOptions), ("run",)),
    "report": ((assay.ReportOptions, assay.ConformanceReportOptions), ()),
    "run": ((assay.RunOptions,), ()),
    "runs": ((assay.RunsOptions,), ()),
}
"""The options of each verb's functions, and flags that are arguments or functions of their own."""

OPTIONS = {
    "attribute": assay.AttributeOptions,
    "bench": assay.BenchOptions,
    "calibrate": assay.CalibrateOptions,
    "compare": assay.CompareOptions,
    "compare_runs": assay.CompareRunsOptions,
    "conform": assay.ConformOptions,
    "conformance_report": assay.ConformanceReportOptions,
    "coverage": assay.CoverageOptions,
    "evaluate": assay.EvaluateOptions,
    "history": assay.HistoryOptions,
    "profile": assay.ProfileOptions,
    "reduce": assay.ReduceOptions,
    "reduce_run": assay.ReduceRunOptions,
    "report": assay.ReportOptions,
    "run": assay.RunOptions,
    "runs": assay.RunsOptions,
}
"""The options of each function."""

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


def keywords_of_verb(verb):
    options, arguments = VERBS[verb]
    return {*arguments, *(name for group in options for name in group.__annotations__)}


@pytest.mark.parametrize("verb", VERBS)
def test_each_flag_is_a_keyword(verb):
    flags = flags_of_verb(verb)
    assert {"--store"} in flags
    names = keywords_of_verb(verb)
    reached = {_flags.flag_from_name(name) for name in names}
    missing = [flag for flag in flags if not flag & {*reached, *WITHOUT_SENSE}]
    assert missing == []


@pytest.mark.parametrize("verb", VERBS)
def test_each_keyword_is_a_flag(verb):
    known = {spelling for flag in flags_of_verb(verb) for spelling in flag}
    assert {_flags.flag_from_name(name) for name in keywords_of_verb(verb)} <= known


@pytest.mark.parametrize("function", OPTIONS)
def test_help_explains_each_keyword_and_no_other(function):
    text = getattr(assay, function).__doc__.partition("Options:\n")[2]
    subjects = " ".join(re.findall(r"((?:`\w+`(?:, | and )?)+):", text))
    explained = set(re.findall(r"`(\w+)`", subjects))
    names = set(OPTIONS[function].__annotations__)
    assert sorted(name for name in names if f"`{name}`" not in text) == []
    assert sorted(explained - names) == []


def test_every_verb_has_a_function_with_options():
    functions = [name for name in assay.__all__ if name.endswith("Options")]
    assert {getattr(assay, name) for name in functions} == set(OPTIONS.values())
    assert {group for groups, _ in VERBS.values() for group in groups} == set(OPTIONS.values())


@pytest.mark.parametrize(
    ("given", "word"),
    [("250ms", "250ms"), (2, "2s"), (0.25, "0.25s"), (1e-6, "0.000001s"), (90.0, "90s")],
)
def test_a_duration_is_text_or_seconds(given, word):
    assert _flags.flags_from_options({"time_budget": given}) == [f"--time-budget={word}"]
    assert _flags.flags_from_options({"for_": given}) == [f"--for={word}"]


def test_numbers_of_numpy_are_written_as_those_of_python():
    import numpy as np

    values = {"a": np.True_, "b": np.int64(2), "c": np.float32(0.5), "d": [np.False_, True]}
    flags = _flags.flags_from_options({"options": values, "list_only": np.True_, "all": np.False_})
    words = ["a=true", "b=2", "c=0.5", "d=false,true"]
    assert flags == [*(f"--option={word}" for word in words), "--list-only"]
