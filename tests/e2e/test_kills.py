"""Kills at random moments over verbs: the short form of `python tests/campaigns/kills.py`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "campaigns"))

import pytest
from kills import run_kills


@pytest.mark.slow
def test_random_kills_lose_double_and_change_nothing(tmp_path: Path) -> None:
    tally = run_kills(20, 4, tmp_path)
    assert (tally.faults, tally.differences) == ([], [])
    assert sum(tally.kills.values()) >= 20, tally
    assert tally.compared > 10, tally
