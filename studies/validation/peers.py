"""Verdicts that other tools would give on the same launches, and on launches with a known warm-up.

Rules of the tools, re-implemented on SciPy:

- one process each: Mann-Whitney over the iterations of one launch of A and one of B;
- Google Benchmark's tools/compare.py with ten repetitions: Mann-Whitney over the means of ten
  parts of one launch each, called different at p < 0.05;
- hyperfine's scripts/welch_ttest.py: ten whole runs of A, then ten of B, Welch's t at p < 0.05;
- all A, then all B: Mann-Whitney over the medians of ten launches each.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from samples import Cell, Launch, read_launches
from scipy import stats

TRIALS = 1000
ALPHA = 0.05
RUNS = 10
REPETITIONS = 10

Rule = Callable[[Cell, random.Random], tuple[float, float]]
"""One trial: p, and how far B's times lie above A's."""


def _steady(launch: Launch) -> np.ndarray:
    return np.array(launch["execute_ns"][launch["steady_first"] :], dtype=float)


def _mann_whitney(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    return float(stats.mannwhitneyu(a, b).pvalue), float(np.median(b) - np.median(a))


def one_process_each(cell: Cell, generator: random.Random) -> tuple[float, float]:
    """Iterations as if they were independent."""
    a, b = generator.choice(cell.pairs)
    return _mann_whitney(_steady(a), _steady(b))


def google_benchmark(cell: Cell, generator: random.Random) -> tuple[float, float]:
    """Repetitions within one process."""
    a, b = generator.choice(cell.pairs)
    parts = [
        np.array([part.mean() for part in np.array_split(_steady(side), REPETITIONS)])
        for side in (a, b)
    ]
    return _mann_whitney(parts[0], parts[1])


def _one_after_the_other(
    cell: Cell, generator: random.Random, value: Callable[[Launch], float]
) -> tuple[np.ndarray, np.ndarray]:
    """A's launches of some pairs in a row, then B's of the pairs that follow."""
    first = generator.randrange(len(cell.pairs) - 2 * RUNS + 1)
    a = [value(pair[0]) for pair in cell.pairs[first : first + RUNS]]
    b = [value(pair[1]) for pair in cell.pairs[first + RUNS : first + 2 * RUNS]]
    return np.array(a), np.array(b)


def all_a_then_all_b(cell: Cell, generator: random.Random) -> tuple[float, float]:
    """Processes are the unit, but their order is not random."""
    return _mann_whitney(
        *_one_after_the_other(cell, generator, lambda launch: float(np.median(_steady(launch))))
    )


def hyperfine(cell: Cell, generator: random.Random) -> tuple[float, float]:
    """Whole runs, all of one command and then all of the other."""
    a, b = _one_after_the_other(cell, generator, lambda launch: launch["wall_ns"])
    return float(stats.ttest_ind(a, b, equal_var=False).pvalue), float(b.mean() - a.mean())


RULES: dict[str, Rule] = {
    "iterations of one process each": one_process_each,
    "Google Benchmark's compare": google_benchmark,
    "hyperfine's way": hyperfine,
    "all A, then all B": all_a_then_all_b,
}


def judge_cells(cells: list[Cell]) -> list[dict[str, Any]]:
    """Share of trials that each rule calls different, and different in the right direction."""
    found = []
    for cell in cells:
        for name, rule in RULES.items():
            generator = random.Random(1)
            trials = [rule(cell, generator) for _ in range(TRIALS)]
            different = [shift for p, shift in trials if p < ALPHA]
            found.append(
                {
                    "rule": name,
                    "workload": cell.workload,
                    "state": cell.state,
                    "effect": cell.effect,
                    "different": len(different) / TRIALS,
                    "right": sum(shift > 0 for shift in different) / TRIALS,
                }
            )
    return found


def _warmup_estimate(launch: Launch, dropped: int | None) -> float | None:
    """The launch's median after a warm-up: detected (absent if unsteady), or of fixed length."""
    times = launch["execute_ns"]
    if dropped is not None:
        return float(np.median(times[dropped : dropped + 50]))
    return float(np.median(_steady(launch))) if launch["finding"] == "found" else None


def judge_warmup(folder: Path, recording: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Counts by state and rule: launches, those refused, and those off by more than 5 %.

    The truth is the median of the iterations that are known to come after the warm-up.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    rules: dict[str, int | None] = {"detected": None, "1": 1, "10": 10, "50": 50}
    for name, content in recording["cells"].items():
        if not name.startswith("warmup "):
            continue
        rows = found.setdefault(
            content["state"],
            [{"rule": rule, "launches": 0, "refused": 0, "off": 0} for rule in rules],
        )
        for launch in read_launches(folder, name):
            truth = float(np.median(launch["execute_ns"][content["executes"] :]))
            for row, dropped in zip(rows, rules.values(), strict=True):
                estimate = _warmup_estimate(launch, dropped)
                row["launches"] += 1
                row["refused"] += estimate is None
                row["off"] += estimate is not None and abs(estimate / truth - 1) > 0.05
    return found
