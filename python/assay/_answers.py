"""Answers that are no report of cases: comparisons, profiles, calibrations.

Those about the correctness of backends are in _correctness.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from assay._correctness import Coverage, Reduction, Reductions
from assay._fields import HasInterval
from assay._literals import ComparisonVerdict, MetricScale
from assay._result import Result
from assay._runs import Runs


@dataclass(frozen=True)
class PairEstimate(HasInterval):
    """One metric of a comparison, estimated from pairs of launches.

    Ratios are B / A - 1: 0.02 is 2 % more time. Where `scale` is "difference" they are the
    difference by `base`, the size of A's median, or as it is where `base` is 0. `a_median` and
    `b_median` are in the metric's unit.
    `low`, `high` and `confidence`, their coverage, 0..1, are None with too few pairs. `alpha` is
    the limit of `p_value`.
    `unit` is that of a metric that a program defines ("program:NAME").
    """

    metric: str
    pairs: int
    ratio: float
    p_value: float
    alpha: float
    verdict: ComparisonVerdict
    a_median: float
    b_median: float
    confidence: float | None = None
    low: float | None = None
    high: float | None = None
    is_confirmed: bool | None = None
    unit: str = ""
    scale: MetricScale = "ratio"
    base: float = 0.0


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparison(Result):
    """B against A by pairs of fresh launches; `verdict` and `text` are the answer.

    `metrics` has all metrics over all pairs, the one that decides first. `looks` are at that
    metric. `pairs_needed`: about how many would decide; 0: it is decided.
    """

    run: str
    a_label: str
    b_label: str
    verdict: ComparisonVerdict
    text: str
    metrics: tuple[PairEstimate, ...] = ()
    looks: tuple[PairEstimate, ...] = ()
    confirmation: PairEstimate | None = None
    canary: PairEstimate | None = None
    pairs_needed: int = 0
    pairs_disturbed: int = 0
    pairs_without: int = 0
    launches: int = 0
    launches_unsteady: int = 0
    seed: int = 0
    wall_ns: int = 0

    @property
    def run_id(self) -> str:
        """The run that holds its launches."""
        return self.run

    @property
    def rows(self) -> Sequence[PairEstimate]:
        """The metrics."""
        return self.metrics


@dataclass(frozen=True)
class StoredChange(HasInterval):
    """One case that two runs have measured; `ratio` is B / A - 1, medians in the metric's unit."""

    label: str
    a_launches: int
    b_launches: int
    a_median: float
    b_median: float
    ratio: float
    p_value: float
    is_nominated: bool
    low: float | None = None
    high: float | None = None
    confidence: float | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class StoredComparison(Result):
    """Two runs of the store, case by case: it nominates what to compare in pairs."""

    a_run: str
    b_run: str
    metric: str
    changes: tuple[StoredChange, ...] = ()
    only_in_a: int = 0
    only_in_b: int = 0
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> Sequence[StoredChange]:
        """The cases that both runs have."""
        return self.changes


@dataclass(frozen=True)
class ProfilePart:
    """An operator or a delegate; times are of one inference, in nanoseconds.

    `share_ratio`: of the whole method, 0..1. `family`: what it does ("convolution", "copy", …).
    """

    name: str
    kind: str
    family: str
    delegate: str
    calls: float
    time_ns: float
    mean_ns: float
    share_ratio: float
    position: int = -1


@dataclass(frozen=True)
class ProfileGroup:
    """Parts that have something in common, added up; nanoseconds of one inference."""

    name: str
    calls: float
    time_ns: float
    share_ratio: float


@dataclass(frozen=True)
class ProfiledCase:
    """The time of one case by part; `parts` add up to `method_ns`, longest first."""

    label: str
    method_ns: float
    parts: tuple[ProfilePart, ...]
    families: tuple[ProfileGroup, ...]
    places: tuple[ProfileGroup, ...]
    iterations: int = 0
    outside_ns: float = 0.0
    timed_ns: float | None = None
    slowdown_ratio: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ProfileDifferenceRow:
    """Time of one part in A and in B, in nanoseconds of one inference."""

    name: str
    a_ns: float
    b_ns: float
    difference_ns: float
    share_ratio: float


@dataclass(frozen=True)
class ProfileDifference:
    """Two profiles side by side, largest difference first."""

    a_label: str
    b_label: str
    a_ns: float
    b_ns: float
    difference_ns: float
    parts: tuple[ProfileDifferenceRow, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, repr=False)
class Profile(Result):
    """The time of an inference by operator, for one or several cases."""

    run: str
    cases: tuple[ProfiledCase, ...] = ()
    difference: ProfileDifference | None = None

    @property
    def run_id(self) -> str:
        """The id of the profiled run; two ids if two stored runs were compared."""
        return self.run

    @property
    def rows(self) -> Sequence[ProfilePart]:
        """The parts of all cases."""
        return [part for case in self.cases for part in case.parts]


@dataclass(frozen=True)
class Detectable:
    """The smallest ratio that a budget of time can detect (0.02: 2 %); negative: none."""

    budget_ns: int
    pairs: int
    ratio: float


@dataclass(frozen=True, kw_only=True, repr=False)
class Calibration(Result):
    """Smallest difference this machine can tell today: a program against its own copy.

    `difference_ratio` is that of the copy, which is none; times are in nanoseconds.
    """

    run: str
    program: str
    metric: str
    pairs: int
    difference_ratio: float
    p_value: float
    null_inference_ns: int
    launch_overhead_ns: int
    detectable: tuple[Detectable, ...] = ()
    pairs_disturbed: int = 0
    pair_ns: int = 0

    @property
    def rows(self) -> Sequence[Detectable]:
        """Smallest difference that shows, by how long pairs are launched."""
        return self.detectable


SCHEMAS: dict[str, type[Result]] = {
    "assay/comparison/1": Comparison,
    "assay/stored-comparison/1": StoredComparison,
    "assay/profile/1": Profile,
    "assay/calibration/1": Calibration,
    "assay/reduction/1": Reduction,
    "assay/reductions/1": Reductions,
    "assay/conformance_coverage/1": Coverage,
    "assay/runs/1": Runs,
}
"""The documents whose fields are those of a class."""
