"""Fixtures of the end-to-end tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from driver import BIN, Workplace, find_descriptions


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    if (BIN / "assay").exists():
        return
    reason = f"no {BIN / 'assay'}: build first, or set ASSAY_BIN_DIR"
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Has the runners describe themselves before a test starts, which would pay for all others."""
    if (BIN / "assay").exists() and not session.config.option.collectonly:
        find_descriptions()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Workplace]:
    """A fresh home; whatever a test leaves running is ended."""
    workplace = Workplace(tmp_path)
    yield workplace
    workplace.clean_up()
