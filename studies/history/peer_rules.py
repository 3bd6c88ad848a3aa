"""Runs the rules of apache-otava and asv over exported series; called by peers.py in their venv.

    python peer_rules.py FOLDER

FOLDER holds CSV files, a series of logarithms a line. Prints one JSON document:
{RULE: {FILE: [[positions of changes of a series], ...]}}.
"""

import itertools
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path

from asv.step_detect import detect_steps
from otava.analysis import compute_change_points

MIN_EFFECT = 0.01


def otava_changes(values: list[float]) -> list[int]:
    """Otava's change points with its defaults: window 50, p 0.001."""
    changes, _ = compute_change_points(values, window_len=50, max_pvalue=0.001, min_magnitude=0.0)
    return [int(change.index) for change in changes]


def asv_changes(values: list[float]) -> list[int]:
    """Boundaries of asv's steps whose levels differ by 1 % at least."""
    steps = detect_steps(values)
    return [
        int(after[0])
        for before, after in itertools.pairwise(steps)
        if abs(after[2] / before[2] - 1) >= MIN_EFFECT
    ]


def main() -> None:
    """Goes through all files with all rules."""
    rules: dict[str, Callable[[list[float]], list[int]]] = {
        "otava": otava_changes,
        "asv": asv_changes,
    }
    found: dict[str, dict[str, list[list[int]]]] = {name: {} for name in rules}
    for path in sorted(Path(sys.argv[1]).glob("*.csv")):
        lines = path.read_text(encoding="utf-8").splitlines()
        series = [[math.exp(float(text)) for text in line.split(",")] for line in lines]
        for name, rule in rules.items():
            found[name][path.stem] = [rule(values) for values in series]
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
