"""The verbs about stored runs: what was measured, which runs there are, how two of them differ."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from assay._answers import StoredComparison
from assay._calls import answer, expect, run_id_of, with_store
from assay._correctness import Conformance, Reductions
from assay._execute import execute, execute_twice
from assay._history import History
from assay._options import (
    CompareRunsOptions,
    ConformanceReportOptions,
    HistoryOptions,
    ReduceRunOptions,
    ReportOptions,
    RunsOptions,
    check_names,
    explained,
)
from assay._report import Report
from assay._result import Result
from assay._runs import Runs

if TYPE_CHECKING:
    from typing_extensions import Unpack

R = TypeVar("R", bound=Result)


@explained(CompareRunsOptions)
def compare_runs(
    run: str | Result, other: str | Result, **options: Unpack[CompareRunsOptions]
) -> StoredComparison:
    """Compares two stored runs case by case: `assay compare RUN_A RUN_B`.

    Args:
        run: A: its id, the beginning of one, "latest", or a result of it.
        other: B, likewise.
        **options: see assay.CompareRunsOptions.

    Returns:
        The change of each case that both runs have. It is weak evidence, and names the cases to
        compare() in pairs.

    Raises:
        UsageError: there is no such run, or they have no timed case in common.
        UnavailableError: the store cannot be read.
    """
    check_names(options, CompareRunsOptions)
    names = [f"run:{run_id_of(side).removeprefix('run:')}" for side in (run, other)]
    given = with_store(options, [run, other])
    return expect(StoredComparison, execute(["compare", *names, "--quiet"], given))


@explained(ReduceRunOptions)
def reduce_run(
    run: str | Conformance = "latest",
    *,
    bundle: str | Path,
    **options: Unpack[ReduceRunOptions],
) -> Reductions:
    """Reduces every failure of a run of conform(): `assay reduce --run`.

    Args:
        run: its id, the beginning of one, "latest", or the result of conform().
        bundle: the folder that gets a folder for each failure, with its smallest case and a script
            that needs no Assay.
        **options: see assay.ReduceRunOptions.

    Returns:
        The failures with their folders; exit code 1 says that some could not be reduced.

    Raises:
        UsageError: there is no such run, or it has no failure to reduce.
        UnavailableError: nothing could run.
    """
    check_names(options, ReduceRunOptions)
    given = {**with_store(options, [run]), "run": run_id_of(run), "bundle": bundle}
    return answer(Reductions, "reduce", given)


@explained(ReportOptions)
def report(run: str | Result = "latest", **options: Unpack[ReportOptions]) -> Report:
    """Reports a stored run of measurements: `assay report`.

    Args:
        run: its id, the beginning of one, "latest", or a result of it.
        **options: see assay.ReportOptions.

    Returns:
        The report, as bench(), evaluate() or run() returned it.

    Raises:
        UsageError: there is no such run, or it is one of conform().
        UnavailableError: the store cannot be read.
    """
    check_names(options, ReportOptions)
    return _report_of_run(Report, run, options)


@explained(ConformanceReportOptions)
def conformance_report(
    run: str | Result = "latest", **options: Unpack[ConformanceReportOptions]
) -> Conformance:
    """Reports a stored run of conform(): `assay report`.

    Args:
        run: its id, the beginning of one, "latest" or "latest:conform", or a result of it.
        **options: see assay.ConformanceReportOptions.

    Returns:
        The results, as conform() returned them.

    Raises:
        UsageError: there is no such run, or it is none of conform().
        UnavailableError: the store cannot be read.
    """
    check_names(options, ConformanceReportOptions)
    return _report_of_run(Conformance, run, options)


@explained(RunsOptions)
def runs(*words: str, **options: Unpack[RunsOptions]) -> Runs:
    """Lists the newest runs of a store: `assay runs`.

    Args:
        *words: only runs whose id, name, command, labels or cases contain all of them.
        **options: see assay.RunsOptions.

    Returns:
        The runs, newest first; `cases_to_pandas()` is a frame of their cases.

    Raises:
        UnavailableError: the store cannot be read.
    """
    check_names(options, RunsOptions)
    return expect(Runs, execute(["runs", *words], options))


@explained(HistoryOptions)
def history(repository: str | Path | None = None, **options: Unpack[HistoryOptions]) -> History:
    """Shows series over commits and the changes in them: `assay history`.

    Args:
        repository: a repository file whose series `assay watch` measured; None with from_=.
        **options: see assay.HistoryOptions.

    Returns:
        The series; `to_pandas()` is a frame of their points.

    Raises:
        UsageError: there are no such series.
        UnavailableError: the store or the file cannot be read.
    """
    check_names(options, HistoryOptions)
    named = [] if repository is None else [str(repository)]
    return expect(History, execute_twice(["history", *named], options))


def _report_of_run(kind: type[R], run: str | Result, options: Mapping[str, Any]) -> R:
    given = with_store(options, [run])
    return expect(kind, execute(["report", run_id_of(run)], given))
