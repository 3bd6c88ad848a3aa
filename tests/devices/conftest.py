"""Fixtures of the tests of devices."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from driver import Workplace


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Workplace]:
    """A fresh home; whatever a test leaves running is ended."""
    workplace = Workplace(tmp_path)
    yield workplace
    workplace.clean_up()
