"""Checks that tools/check_prose.py finds what it is for, and passes what is plain."""

import importlib.util
import sys
from types import ModuleType

import pytest
from blocks import ROOT


@pytest.fixture(scope="module")
def prose() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_prose", ROOT / "tools/check_prose.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["check_prose"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "heading",
    [
        "Whether a recipe can be used here",
        "What stays",
        "How often it is wrong",
        "A runner fails",
        "Where the charts come from",
        "Is it right?",
    ],
)
def test_finds_headings_that_are_sentences(prose: ModuleType, heading: str) -> None:
    assert prose.is_sentence(heading)


@pytest.mark.parametrize(
    "heading",
    ["Verdicts", "A model that is exported", "`finds` of a run", "Design of a comparison"],
)
def test_passes_headings_that_are_noun_phrases(prose: ModuleType, heading: str) -> None:
    assert not prose.is_sentence(heading)


def test_finds_wide_lines_outside_of_tables_and_code(prose: ModuleType) -> None:
    wide = "word " * 30
    page = f"{wide}\n\n| {wide} |\n\n    {wide}\n\n```\n{wide}\n```\n"
    assert list(prose.findings_in_page(page)) == ["1: 150 columns; at most 120"]


def test_finds_banned_turns(prose: ModuleType) -> None:
    (finding,) = prose.findings_in_page("The result is none of the two. There is none here.")
    assert "'is none'" in finding


def test_finds_flags_without_group_or_metavar(prose: ModuleType) -> None:
    page = """Options:
  -h,--help                   Print this help message and exit
  --trust                     Allow code

Output:
  --out PATH=-                File
  -q,--quiet                  Do not report progress
  --top INT                   Rows
"""
    assert list(prose.findings_in_help(page)) == [
        "3: --trust has no group",
        "8: --top has no metavar",
    ]


def test_finds_long_subjects_and_joined_changes(prose: ModuleType) -> None:
    assert list(prose.findings_in_subject("cli: name the flag")) == []
    assert len(list(prose.findings_in_subject("x" * 73))) == 1
    assert len(list(prose.findings_in_subject("cli: name it; store: keep it"))) == 1


@pytest.mark.parametrize(
    ("mark", "text"),
    [
        ("///", "Of the main report."),
        ("int x;  ///<", "What it takes."),
        ("#", "The same for ints."),
        ('"' * 3, "Whether it runs."),
    ],
)
def test_counts_comments_that_open_with_a_fragment(prose: ModuleType, mark: str, text: str) -> None:
    assert prose.FRAGMENT.search(f"{mark} {text}")


@pytest.mark.parametrize(
    "line", ["/// Office hours.", "x = 1  # Of no interest", "/// The sample."]
)
def test_counts_no_other_comments(prose: ModuleType, line: str) -> None:
    assert not prose.FRAGMENT.search(line)


def test_more_fragments_than_before_are_a_finding(
    prose: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prose, "documents", list)
    monkeypatch.setattr(prose, "count_fragments", lambda _: 3)
    findings = prose.all_findings({"commits_since": "HEAD", "comment_fragments": {"src": 2}})
    assert any(one.startswith("src: 3 comments") for one in findings)


def test_the_project_is_clean(prose: ModuleType) -> None:
    findings = [
        f"{page.name}:{finding}"
        for page in prose.documents()
        for finding in prose.findings_in_page(page.read_text(encoding="utf-8"))
    ]
    assert findings == []


def test_every_tree_that_is_counted_has_files(prose: ModuleType) -> None:
    empty = [
        pattern
        for patterns in prose.TREES.values()
        for pattern in patterns
        if not any(ROOT.glob(pattern))
    ]
    assert empty == []
