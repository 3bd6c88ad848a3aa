"""The synthetic history has what a watcher is tested on, whatever its seed."""

import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "campaigns" / "synthetic_repository"
STEPS = ("slower_5", "slower_2", "back", "forth", "answer")


@pytest.fixture(scope="module")
def history() -> ModuleType:
    sys.path.insert(0, str(FOLDER))
    import history

    return history


@pytest.mark.parametrize("commits", [64, 80, 200])
def test_every_kind_of_commit_is_there_for_every_seed(history: ModuleType, commits: int) -> None:
    for seed in range(40):
        plan = list(history.changes(commits, seed, None))
        assert len(plan) == commits
        kinds = Counter(change.kind for change in plan)
        for kind in (*STEPS, "broken", "mend", "revert", "undo", "merge", "rename"):
            assert kinds[kind] == 1, (seed, kind)
        assert kinds["drift"] == history.DRIFT_STEPS, seed
        assert kinds["docs"] > 3, seed


def test_work_changes_where_a_commit_says_so_and_nowhere_else(history: ModuleType) -> None:
    for seed in range(40):
        plan = list(history.changes(64, seed, None))
        first = plan[0].engine.work
        for before, change in pairwise(plan):
            more = change.engine.work - before.engine.work
            assert more == round(change.share * first), (seed, change.subject)
            if change.share:
                changed = change.engine.blocks[change.operator]
                assert changed - before.engine.blocks[change.operator] == more
            assert (change.engine.scales != before.engine.scales) is (change.kind == "answer")
        assert plan[-1].engine.work == first + round(0.07 * first) + 8 * round(0.003 * first)


def test_steps_are_apart_and_broken_commits_are_mended(history: ModuleType) -> None:
    for seed in range(40):
        plan = list(history.changes(64, seed, None))
        steps = [i for i, change in enumerate(plan) if change.kind in STEPS or change.share]
        first_drift = next(i for i, change in enumerate(plan) if change.kind == "drift")
        apart = [later - step for step, later in pairwise(steps)]
        assert min(gap for gap, step in zip(apart, steps, strict=False) if step < first_drift) >= 3
        broken = [i for i, change in enumerate(plan) if change.engine.is_broken]
        assert len(broken) == 1, seed
        undone = next(i for i, change in enumerate(plan) if change.kind == "undo")
        assert plan[undone].engine == plan[undone - 2].engine, seed


def test_an_unchanged_history_has_one_program(history: ModuleType) -> None:
    plan = list(history.changes(30, 3, ""))
    assert len(plan) == 30
    programs = {
        (tuple(one.engine.blocks.values()), tuple(one.engine.scales.values())) for one in plan
    }
    assert len(programs) == 1
    assert {change.kind for change in plan} == {"first", "docs", "comment"}
    assert len({tuple(one.engine.sources().items()) for one in plan}) == 30


def test_a_history_with_one_change_has_no_other(history: ModuleType) -> None:
    plan = list(history.changes(100, 5, "slower_2"))
    assert [change.kind for change in plan if change.share] == ["slower_2"]
