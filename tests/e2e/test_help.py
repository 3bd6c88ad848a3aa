"""The text of every --help is kept as a golden: pytest tests/e2e/test_help.py --approve"""

import re

import pytest
from driver import ROOT, Workplace

SCREEN_LINES = 50
HOME = "/assay-home"
"""A home that is not there; its length decides where lines are wrapped."""
GOLDEN = ROOT / "tests" / "golden" / "help"
PAGES = {
    "assay": [],
    **{
        verb: [verb]
        for verb in (
            *(
                "run",
                "bench",
                "conform",
                "reduce",
                "eval",
                "attribute",
                "calibrate",
                "compare",
                "history",
                "watch",
                "bisect",
                "profile",
                "aot",
                "import",
                "init",
                "inspect",
                "list",
            ),
            *(
                "engine",
                "device",
                "doctor",
                "report",
                "runs",
                "serve",
                "site",
                "store",
                "cache",
                "merge",
                "work",
                "completion",
            ),
        )
    },
    "engine_add": ["engine", "add"],
    "fleet": ["fleet"],
    "fleet_cancel": ["fleet", "cancel"],
    "fleet_drain": ["fleet", "drain"],
    "fleet_executions": ["fleet", "executions"],
    "fleet_status": ["fleet", "status"],
    "engine_build": ["engine", "build"],
    "engine_check": ["engine", "check"],
    "engine_gc": ["engine", "gc"],
    "engine_list": ["engine", "list"],
    "engine_remove": ["engine", "remove"],
    **{
        f"device_{verb}": ["device", verb]
        for verb in ("add", "check", "exclude", "include", "list", "prepare", "release")
    },
    "cache_prune": ["cache", "prune"],
    **{
        f"store_{verb}": ["store", verb]
        for verb in ("info", "prune", "tag", "export", "vacuum", "grant")
    },
    **{f"runs_{verb}": ["runs", verb] for verb in ("show", "tag", "rm", "prune")},
}


@pytest.mark.parametrize("page", PAGES)
def test_help_is_as_approved(page: str, place: Workplace, request: pytest.FixtureRequest) -> None:
    place.env["ASSAY_HOME"] = HOME
    shown = place.run(*PAGES[page], "--help")
    assert shown.code == 0, shown
    assert shown.err == ""
    text = shown.out
    golden = GOLDEN / f"{page}.txt"
    if request.config.getoption("--approve"):
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(text, encoding="utf-8")
    assert golden.exists(), "run pytest tests/e2e/test_help.py --approve"
    assert text == golden.read_text(encoding="utf-8"), (
        "if that is right: pytest tests/e2e/test_help.py --approve"
    )


def test_every_verb_has_a_page(place: Workplace) -> None:
    verbs = re.findall(r"^  (\w+) ", place.run("--help").out, re.MULTILINE)
    assert "bench" in verbs
    assert set(verbs) <= set(PAGES)


@pytest.mark.parametrize("verb", ["bench", "eval", "compare", "conform", "run"])
def test_the_short_help_is_a_screen(verb: str, place: Workplace) -> None:
    short, whole = place.ok(verb, "-h").out, place.ok(verb, "--help").out
    assert len(short.splitlines()) <= SCREEN_LINES
    flags = re.findall(r"^  (?:-\w, )?(--[\w-]+)", short, re.MULTILINE)
    every = re.findall(r"^  (?:-\w, )?(--[\w-]+)", whole, re.MULTILINE)
    assert set(flags) < set(every)
    assert f"`assay {verb} --help` has {len(every) - len(flags)} more" in short


@pytest.mark.parametrize("columns", [60, 100, 160])
def test_help_is_as_wide_as_the_terminal(columns: int, place: Workplace) -> None:
    place.env["COLUMNS"] = str(columns)
    entries, example = place.ok("bench", "--help").out.split("Example:")
    assert example
    assert columns - 30 < max(map(len, entries.splitlines())) <= columns


def test_version_tells_commit_and_build(place: Workplace) -> None:
    shown = place.run("--version")
    assert shown.code == 0
    assert re.fullmatch(
        r"assay \d+\.\d+\.\d+\n"
        r"commit ([0-9a-f]{12}(-dirty)?|unknown)\n"
        r"built by \S+ [\d.]+, \w+(, [\w-]+)?\n",
        shown.out,
    ), shown
