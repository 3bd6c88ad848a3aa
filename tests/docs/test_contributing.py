"""Checks that files and functions that the pages for contributors name exist."""

import re
from pathlib import Path

import pytest
from blocks import ROOT, page_name

PAGES = sorted((ROOT / "docs/contributing").glob("*.md"))


def quoted(page: Path) -> list[str]:
    """The texts in backticks."""
    return re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8"))


def paths(page: Path) -> list[str]:
    """Those that name a file or a folder of the tree: they begin with one of its root's."""
    roots = {path.name for path in ROOT.iterdir()}
    texts = [text for text in quoted(page) if re.fullmatch(r"[\w.-]+(/[\w.-]+)*/?", text)]
    return [text for text in texts if text.split("/")[0] in roots]


def find_missing(functions: list[str], sources: list[str]) -> list[str]:
    """The functions, such as "Agent::spawn()", whose last name occurs in no source."""
    text = "\n".join(sources)
    names = {function: function.removesuffix("()").split("::")[-1] for function in functions}
    return [one for one, name in names.items() if not re.search(rf"\b{name}\b", text)]


def test_there_are_pages() -> None:
    assert len(PAGES) >= 2


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_named_files_exist(page: Path) -> None:
    named = paths(page)
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_named_functions_are_in_the_named_files(page: Path) -> None:
    files = [ROOT / path for path in paths(page) if (ROOT / path).is_file()]
    sources = [file.read_text(encoding="utf-8") for file in files]
    functions = [text for text in quoted(page) if re.fullmatch(r"[\w:]+\(\)", text)]
    assert functions
    assert find_missing(functions, sources) == []
    assert find_missing(["Agent::no_such_function()"], sources) != []
