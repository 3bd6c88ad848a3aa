"""Profiles: from what ran when to a ProfileReport."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import Any

MOST_SPAN_ITERATIONS = 5
MOST_SPANS = 20_000


def clock_ns() -> int:
    """The clock that Assay times inferences by, and that spans are placed on.

    Other clocks of Python (time.monotonic_ns, time.perf_counter_ns) are steered by NTP and drift
    away from it: by seconds within a week.
    """
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)


@dataclass(frozen=True)
class Span:
    """An operator in one inference; `start_ns` by clock_ns()."""

    name: str
    start_ns: int
    duration_ns: int


@dataclass(frozen=True)
class Run:
    """One inference under the profiler, and the operators in the order in which they began."""

    start_ns: int
    duration_ns: int
    operators: Sequence[Span]


def report_from_runs(runs: Sequence[Run], method: str, notes: Sequence[str] = ()) -> dict[str, Any]:
    """ProfileReport of src/assay/record/launch.h.

    The n-th operator of one inference is taken for the n-th of the others; where their numbers or
    names differ, operators are told by name alone.
    """
    is_same = len({tuple(span.name for span in run.operators) for run in runs}) <= 1
    keys = [
        [(span.name, index if is_same else -1) for index, span in enumerate(run.operators)]
        for run in runs
    ]
    distinct = dict.fromkeys(key for its_keys in keys for key in its_keys)
    places = {key: 1 + place for place, key in enumerate(distinct)}
    durations: list[list[int]] = [[] for _ in places]
    for run, its_keys in zip(runs, keys, strict=True):
        for span, key in zip(run.operators, its_keys, strict=True):
            durations[places[key] - 1].append(span.duration_ns)
    events = [_event(method, "method", -1, [run.duration_ns for run in runs])]
    events += [
        _event(name, "operator", index, durations[places[name, index] - 1])
        for name, index in places
    ]
    return {
        "events": events,
        "method_median_ns": events[0]["median_ns"],
        "notes": list(notes),
        "spans": _spans(runs, [[places[key] for key in its_keys] for its_keys in keys]),
    }


def _event(name: str, kind: str, instruction: int, durations: Sequence[int]) -> dict[str, Any]:
    return {
        "name": name,
        "kind": kind,
        "instruction": instruction,
        "count": len(durations),
        "total_ns": sum(durations),
        "min_ns": min(durations, default=0),
        "median_ns": median_low(durations) if durations else 0,
    }


def _spans(runs: Sequence[Run], places: Sequence[Sequence[int]]) -> list[list[int]]:
    spans = []
    for iteration, run in enumerate(runs[:MOST_SPAN_ITERATIONS]):
        spans.append([0, iteration, run.start_ns, run.duration_ns])
        spans += [
            [place, iteration, span.start_ns, span.duration_ns]
            for place, span in zip(places[iteration], run.operators, strict=True)
        ]
    return spans[:MOST_SPANS]
