"""Checks that links between the pages, and the files and headings that they name, exist."""

from pathlib import Path

import pytest
from blocks import PAGES, ROOT, anchors_of, links_of, page_name, targets_of


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_linked_and_named_files_exist(page: Path) -> None:
    missing = [link for link in links_of(page) if not (ROOT / link).exists()]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_linked_headings_exist(page: Path) -> None:
    missing = [
        f"{target.name}#{anchor}"
        for target, anchor in targets_of(page)
        if anchor and target.suffix == ".md" and anchor not in anchors_of(target)
    ]
    assert missing == []


def test_every_page_of_docs_is_in_the_index() -> None:
    linked = {target for target, _ in targets_of(ROOT / "docs/guide/index.md")}
    pages = {page for page in PAGES if page.parent.parent == ROOT / "docs"}
    assert pages - linked == {ROOT / "docs/guide/index.md"}
