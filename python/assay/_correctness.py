"""Answers about the correctness of backends: conformance, its coverage, and reductions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay._fields import read_fields
from assay._literals import ConformVerdict, Delegation, KnownGap, ReductionEnd, Stage
from assay._result import Result


@dataclass(frozen=True)
class ReductionFinding:
    """Behaviour of a candidate: its verdict, where it failed and how."""

    verdict: ConformVerdict
    stage: Stage = "none"
    reason_code: str = ""
    text: str = ""


@dataclass(frozen=True)
class ReductionStep:
    """One smaller case that still fails; `what` was left out or made smaller."""

    what: str
    finding: ReductionFinding


@dataclass(frozen=True)
class ReductionSteps:
    """The steps in which a case shrank."""

    first: ReductionStep
    steps: tuple[ReductionStep, ...]
    stopped_by: ReductionEnd
    judged: int = 0
    replayed: int = 0
    closest: ReductionStep | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class Reduction(Result):
    """The smallest case that still fails; `model` is it as a spec has it, `command` repeats it."""

    case: str
    recipe: str
    engine: str
    check: str
    verdict: ConformVerdict
    text: str
    model: Mapping[str, Any]
    is_confirmed: bool
    command: str
    reduction: ReductionSteps
    script: str = ""
    is_shown: bool = False

    @property
    def rows(self) -> Sequence[ReductionStep]:
        """The steps, each smaller than the one before."""
        return self.reduction.steps


@dataclass(frozen=True)
class ReducedFailure:
    """One failure of a run and the folder that has its smallest case; `error`: why it has none."""

    case: str
    recipe: str
    engine: str
    verdict: ConformVerdict
    folder: str
    command: str = ""
    error: str = ""
    is_confirmed: bool = False


@dataclass(frozen=True, kw_only=True, repr=False)
class Reductions(Result):
    """The failures of a run of assay.conform, each reduced once."""

    run: str
    failures: tuple[ReducedFailure, ...] = ()

    @property
    def rows(self) -> Sequence[ReducedFailure]:
        """The failures."""
        return self.failures


@dataclass(frozen=True)
class ConformanceResult:
    """One conformance case with one recipe.

    `known`: the verdict compared with the lists of known gaps. `error_bound_ratio`: the largest
    error divided by its bound; None: not judged.
    """

    name: str
    operator_name: str
    dtype: str
    recipe: str
    engine: str
    options: str
    verdict: ConformVerdict
    known: KnownGap
    stage: Stage
    reason_code: str
    text: str
    delegation: Delegation
    command: str
    case_key: str = ""
    shape_class: str = ""
    error_bound_ratio: float | None = None


@dataclass(frozen=True)
class ConformanceChange:
    """A case whose verdict differs from that of an earlier run."""

    name: str
    recipe: str
    before: ConformVerdict
    after: ConformVerdict


@dataclass(frozen=True)
class OperatorCoverage:
    """Number of conformance cases of an operator, or why it has none."""

    operator_name: str
    cases: int
    reason: str = ""


@dataclass(frozen=True, kw_only=True, repr=False)
class Conformance(Result):
    """Verdicts on a backend: what it runs, refuses, gets wrong or dies of."""

    run_id: str
    suite: str
    tier: str
    results: tuple[ConformanceResult, ...] = ()
    coverage: tuple[OperatorCoverage, ...] = ()
    changes: tuple[ConformanceChange, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> Sequence[ConformanceResult]:
        """The results."""
        return self.results


@dataclass(frozen=True, kw_only=True, repr=False)
class Coverage(Result):
    """Numbers of conformance cases of all core operators."""

    coverage: tuple[OperatorCoverage, ...] = ()

    @property
    def rows(self) -> Sequence[OperatorCoverage]:
        """The operators."""
        return self.coverage


def conformance_from_json(source: Mapping[str, Any], /, **given: Any) -> Conformance:
    """Contents of a document of schema assay/conformance/1."""
    return read_fields(Conformance, source, run_id=source["run"]["id"], **given)
