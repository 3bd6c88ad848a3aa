"""The verbs of the `assay` program as functions that return typed results.

The keywords of a verb are the flags of the command line (`assay bench --help`): _options.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from assay._answers import Calibration, Comparison, Profile, StoredComparison
from assay._correctness import Conformance, Coverage, Reduction, Reductions
from assay._errors import AssayError
from assay._execute import execute, execute_twice
from assay._history import History
from assay._models import ModelReference, program_ending, reference_from_model
from assay._options import (
    AttributeOptions,
    BenchOptions,
    CalibrateOptions,
    CompareOptions,
    CompareRunsOptions,
    ConformanceReportOptions,
    ConformOptions,
    CoverageOptions,
    EvaluateOptions,
    HistoryOptions,
    ProfileOptions,
    ReduceOptions,
    ReduceRunOptions,
    ReportOptions,
    RunOptions,
    RunsOptions,
    check_names,
    explained,
)
from assay._report import Report
from assay._result import Result
from assay._runs import Runs
from assay.toolchain.temporary import TemporaryFolder

if TYPE_CHECKING:
    from typing_extensions import Unpack

R = TypeVar("R", bound=Result)


@explained(BenchOptions)
def bench(
    model: object, *, example_inputs: Sequence[Any] | None = None, **options: Unpack[BenchOptions]
) -> Report:
    """Measures the latency and memory of a model or program: `assay bench`.

    Args:
        model: a reference ("torchvision:mobilenet_v2", "net.py:make"), a file, a torch.nn.Module or
            a function of tensors with example_inputs, a pair (module, inputs), or an
            ExportedProgram.
        example_inputs: tensors to export a module with, in the order of its arguments.
        **options: see assay.BenchOptions; `recipe` says how a model is lowered.

    Returns:
        The report, times in nanoseconds; findings (exit code 1) are in it, not raised.

    Raises:
        UsageError: wrong usage.
        UnavailableError: nothing could run.
    """
    check_names(options, BenchOptions)
    return _answer(Report, "bench", options, [model], example_inputs)


@explained(EvaluateOptions)
def evaluate(
    model: object,
    *,
    example_inputs: Sequence[Any] | None = None,
    **options: Unpack[EvaluateOptions],
) -> Report:
    """Compares the outputs of a model with its references: `assay eval`.

    Args:
        model: as bench() takes it; a program file needs a reference: against="file" or
            "engine:NAME".
        example_inputs: tensors to export a module with.
        **options: see assay.EvaluateOptions.

    Returns:
        The report; each case has `accuracy_tables`, with errors by output and metric (sqnr_db in
        dB). Findings (exit code 1) are in it, not raised.

    Raises:
        UsageError: wrong usage.
        UnavailableError: nothing could run.
    """
    check_names(options, EvaluateOptions)
    return _answer(Report, "eval", options, [model], example_inputs)


@explained(AttributeOptions)
def attribute(
    model: object,
    *,
    example_inputs: Sequence[Any] | None = None,
    **options: Unpack[AttributeOptions],
) -> Report:
    """Attributes the error to layers, and to quantization or the backend: `assay attribute`.

    Args:
        model: as bench() takes it; no finished program.
        example_inputs: tensors to export a module with.
        **options: see assay.AttributeOptions.

    Returns:
        The report; each case has an `attribution`, with noise (error energy by that of the
        reference) for every layer.

    Raises:
        UsageError: wrong usage.
        UnavailableError: nothing could run.
    """
    check_names(options, AttributeOptions)
    return _answer(Report, "attribute", options, [model], example_inputs)


@explained(CompareOptions)
def compare(
    model: object = None,
    other: object = None,
    *,
    example_inputs: Sequence[Any] | None = None,
    **options: Unpack[CompareOptions],
) -> Comparison:
    """Tests whether B is faster or slower than A with pairs of launches: `assay compare`.

    Args:
        model: A, as bench() takes it; None with resume=.
        other: B; None where two recipes, engines or options of `model` are compared. compare_runs()
            compares stored runs.
        example_inputs: tensors to export modules with, of both sides.
        **options: see assay.CompareOptions.

    Returns:
        The comparison, its ratios B / A - 1; exit code 1 says that B is slower, 6 that it cannot
        tell.

    Raises:
        UsageError: wrong usage, or more or less than two sides.
        UnavailableError: nothing could run.
    """
    check_names(options, CompareOptions)
    return _answer(Comparison, "compare", options, [model, other], example_inputs)


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
    names = [f"run:{_run_id(side).removeprefix('run:')}" for side in (run, other)]
    given = _with_store(options, [run, other])
    return _expect(StoredComparison, execute(["compare", *names, "--quiet"], given))


@explained(ProfileOptions)
def profile(
    model: object,
    other: object = None,
    *,
    example_inputs: Sequence[Any] | None = None,
    **options: Unpack[ProfileOptions],
) -> Profile:
    """Shows the time of an inference by operator: `assay profile`.

    Args:
        model: as bench() takes it; or the result of a run with a profile, or "run:ID".
        other: a second one to compare it with.
        example_inputs: tensors to export modules with.
        **options: see assay.ProfileOptions.

    Returns:
        The profile of each case, in nanoseconds of one inference.

    Raises:
        UsageError: wrong usage.
        UnavailableError: nothing could run.
    """
    check_names(options, ProfileOptions)
    return _answer(Profile, "profile", options, [model, other], example_inputs)


@explained(RunOptions)
def run(
    spec: str | Path | Mapping[str, Any] | None = None, **options: Unpack[RunOptions]
) -> Report:
    """Measures and evaluates the cases of a spec: `assay run`.

    Args:
        spec: a path, or the document itself; in a document, models in files are found from the
            current folder (write other paths in full), and "schema" may be left out. None with
            resume=.
        **options: see assay.RunOptions.

    Returns:
        The report; findings (exit code 1) are in it, not raised.

    Raises:
        UsageError: a fault in the spec.
        UnavailableError: nothing could run.
    """
    check_names(options, RunOptions)
    if not isinstance(spec, Mapping):
        return _answer(Report, "run", options, [None if spec is None else str(spec)])
    with TemporaryFolder("run") as folder:
        path = Path(folder, "spec.json")
        path.write_text(json.dumps(_document_from_spec(spec)))
        return _answer(Report, "run", options, [path])


@explained(ConformOptions)
def conform(**options: Unpack[ConformOptions]) -> Conformance:
    """Tests which operators a backend runs, refuses or computes wrongly: `assay conform`.

    Args:
        **options: see assay.ConformOptions.

    Returns:
        The results, one for each case and recipe. Exit code 1 says that there are new failures, or
        listed gaps that are closed.

    Raises:
        UsageError: wrong usage, or no case matches.
        UnavailableError: nothing could run.
    """
    check_names(options, ConformOptions)
    return _answer(Conformance, "conform", options)


@explained(CoverageOptions)
def coverage(**options: Unpack[CoverageOptions]) -> Coverage:
    """Counts the conformance cases of each operator: `assay conform --coverage`.

    Args:
        **options: see assay.CoverageOptions.

    Returns:
        How many cases each operator has, and why some have none; nothing is run.

    Raises:
        UsageError: wrong usage.
        UnavailableError: the interpreter has no torch.
    """
    check_names(options, CoverageOptions)
    return _answer(Coverage, "conform", {**options, "coverage": True})


@explained(ReduceOptions)
def reduce(
    model: object,
    *,
    example_inputs: Sequence[Any] | None = None,
    **options: Unpack[ReduceOptions],
) -> Reduction:
    """Reduces a failing case to the smallest case that still fails: `assay reduce`.

    Args:
        model: a case of conform() by name, or a model as bench() takes it; no finished program.
        example_inputs: tensors to export a module with.
        **options: see assay.ReduceOptions.

    Returns:
        The smallest case and the steps that led to it.

    Raises:
        UsageError: wrong usage, or the case does not fail.
        UnavailableError: nothing could run.
    """
    check_names(options, ReduceOptions)
    return _answer(Reduction, "reduce", options, [model], example_inputs)


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
    given = {**_with_store(options, [run]), "run": _run_id(run), "bundle": bundle}
    return _answer(Reductions, "reduce", given)


@explained(CalibrateOptions)
def calibrate(
    program: str | Path | None = None, **options: Unpack[CalibrateOptions]
) -> Calibration:
    """Measures the smallest difference that this machine can detect: `assay calibrate`.

    Args:
        program: a finished program; None: a loop of arithmetic and memory.
        **options: see assay.CalibrateOptions.

    Returns:
        The calibration; times in nanoseconds, differences as ratios.

    Raises:
        UsageError: wrong usage.
        UnavailableError: nothing could run.
    """
    check_names(options, CalibrateOptions)
    return _answer(Calibration, "calibrate", options, [program])


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
    return _expect(Runs, execute(["runs", *words], options))


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
    return _expect(History, execute_twice(["history", *named], options))


def _report_of_run(kind: type[R], run: str | Result, options: Mapping[str, Any]) -> R:
    given = _with_store(options, [run])
    return _expect(kind, execute(["report", _run_id(run)], given))


def _answer(
    kind: type[R],
    verb: str,
    options: Mapping[str, Any],
    subjects: Sequence[object] = (),
    example_inputs: Sequence[Any] | None = None,
) -> R:
    """Runs the verb on its subjects (models, runs or files); leaves out those that are None."""
    models = [_reference(subject, example_inputs) for subject in subjects if subject is not None]
    given = _with_store(options, subjects)
    recipe = given.get("recipe")
    if recipe is not None and len(models) == 1 and program_ending(models[0].ref) is not None:
        raise AssayError(
            f"{models[0].ref} is a finished program; recipe='{recipe}' is for models",
            code="invalid_argument",
        )
    origins = [model.origin for model in models if model.origin]
    if origins and verb != "reduce":
        given["label"] = {"origin": " ".join(origins), **(given.get("label") or {})}
    return _expect(kind, execute([verb, *(model.ref for model in models), "--quiet"], given))


def _with_store(options: Mapping[str, Any], subjects: Sequence[object]) -> dict[str, Any]:
    """The options; without a store among them, the store of the first result that has one."""
    stores = [subject.store for subject in subjects if isinstance(subject, Result)]
    store = next((store for store in stores if store), None)
    return dict(options) if store is None else {"store": store, **options}


def _reference(subject: object, example_inputs: Sequence[Any] | None) -> ModelReference:
    if isinstance(subject, Result):
        return ModelReference(f"run:{_run_id(subject)}")
    return reference_from_model(subject, example_inputs)


def _run_id(run: str | Result) -> str:
    if isinstance(run, str):
        return run
    run_id = getattr(run, "run_id", "")
    if not run_id:
        raise AssayError(
            f"a {type(run).__name__} belongs to no run; pass a run's id",
            code="invalid_argument",
        )
    return str(run_id)


def _expect(kind: type[R], result: Result) -> R:
    if isinstance(result, kind):
        return result
    name = type(result).__name__
    if (function := _FUNCTIONS.get(type(result))) is not None:
        raise AssayError(
            f"the result is a {name}, not a {kind.__name__}: call assay.{function} instead",
            code="invalid_argument",
        )
    raise AssayError(
        f"the result is a {name}, not a {kind.__name__}; use a package and an assay of one version"
    )


_FUNCTIONS: dict[type[Result], str] = {
    Conformance: "conformance_report",
    Report: "report",
    StoredComparison: "compare_runs",
}
"""The functions that return what the same command gives for other arguments."""


def _document_from_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The spec with its schema; models that are files get absolute paths."""
    document = {"schema": "assay/spec/1", **spec}
    if isinstance(document.get("models"), list):
        document["models"] = [_model_from_spec(model) for model in document["models"]]
    return document


def _model_from_spec(model: Any) -> Any:
    if isinstance(model, Mapping):
        return {**model, "ref": _model_from_spec(model["ref"])} if "ref" in model else dict(model)
    file, colon, factory = str(model).partition(":")
    return f"{Path(file).absolute()}{colon}{factory}" if Path(file).is_file() else str(model)
