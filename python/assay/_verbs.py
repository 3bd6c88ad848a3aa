"""Offers the verbs of the `assay` program as functions that return typed results.

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
    ConformOptions,
    EvaluateOptions,
    HistoryOptions,
    ProfileOptions,
    ReduceOptions,
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
    return _answer((Report,), "bench", options, [model], example_inputs)


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
    return _answer((Report,), "eval", options, [model], example_inputs)


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
    return _answer((Report,), "attribute", options, [model], example_inputs)


@explained(CompareOptions)
def compare(
    model: object = None,
    other: object = None,
    *,
    example_inputs: Sequence[Any] | None = None,
    **options: Unpack[CompareOptions],
) -> Comparison | StoredComparison:
    """Tests whether B is faster or slower than A with pairs of launches: `assay compare`.

    Args:
        model: A, as bench() takes it; None with resume=.
        other: B; None where two recipes, engines or options of `model` are compared. Two results of
            runs, or "run:ID" twice, are compared as they are stored.
        example_inputs: tensors to export modules with, of both sides.
        **options: see assay.CompareOptions.

    Returns:
        The comparison, its ratios B / A - 1; exit code 1 says that B is slower, 6 that it cannot
        tell. A StoredComparison of two runs.

    Raises:
        UsageError: wrong usage, or more or less than two sides.
        UnavailableError: nothing could run.
    """
    check_names(options, CompareOptions)
    kinds: tuple[type[Comparison | StoredComparison], ...] = (Comparison, StoredComparison)
    return _answer(kinds, "compare", options, [model, other], example_inputs)


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
        other: a second one, to compare with.
        example_inputs: tensors to export modules with.
        **options: see assay.ProfileOptions.

    Returns:
        The profile of each case, in nanoseconds of one inference.

    Raises:
        UsageError: wrong usage.
        UnavailableError: nothing could run.
    """
    check_names(options, ProfileOptions)
    return _answer((Profile,), "profile", options, [model, other], example_inputs)


@explained(RunOptions)
def run(
    spec: str | Path | Mapping[str, Any] | None = None, **options: Unpack[RunOptions]
) -> Report:
    """Measures and evaluates the cases of a spec: `assay run`.

    Args:
        spec: a path, or the document itself; in a document, models in files are found from the
            current folder (give other paths whole), and "schema" may be left out. None with
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
        return _answer((Report,), "run", options, [None if spec is None else str(spec)])
    with TemporaryFolder("run") as folder:
        path = Path(folder, "spec.json")
        path.write_text(json.dumps(_document_from_spec(spec)))
        return _answer((Report,), "run", options, [path])


@explained(ConformOptions)
def conform(**options: Unpack[ConformOptions]) -> Conformance | Coverage:
    """Tests which operators a backend runs, refuses or computes wrongly: `assay conform`.

    Args:
        **options: see assay.ConformOptions.

    Returns:
        The results, one for each case and recipe; with coverage=True how many cases each operator
        has. Exit code 1 says that there are new failures, or gaps that are none any more.

    Raises:
        UsageError: wrong usage, or no case matches.
        UnavailableError: nothing could run.
    """
    check_names(options, ConformOptions)
    kinds: tuple[type[Conformance | Coverage], ...] = (Conformance, Coverage)
    return _answer(kinds, "conform", options)


@explained(ReduceOptions)
def reduce(
    model: object = None,
    *,
    run: str | Conformance | None = None,
    example_inputs: Sequence[Any] | None = None,
    **options: Unpack[ReduceOptions],
) -> Reduction | Reductions:
    """Reduces a failing case to the smallest case that still fails: `assay reduce`.

    Args:
        model: a case of conform() by name, or a model as bench() takes it; no finished program.
        run: instead of a model: a result of conform() or its id, each of whose failures is reduced;
            needs bundle=.
        example_inputs: tensors to export a module with.
        **options: see assay.ReduceOptions.

    Returns:
        The smallest case and the steps that led to it; Reductions of a run.

    Raises:
        UsageError: wrong usage, or the case does not fail.
        UnavailableError: nothing could run.
    """
    check_names(options, ReduceOptions)
    failing = run.run_id if isinstance(run, Conformance) else run
    given = {**options, "run": failing}
    kinds: tuple[type[Reduction | Reductions], ...] = (Reduction, Reductions)
    return _answer(kinds, "reduce", given, [model], example_inputs)


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
    return _answer((Calibration,), "calibrate", options, [program])


@explained(ReportOptions)
def report(run: str | Result = "latest", **options: Unpack[ReportOptions]) -> Report | Conformance:
    """Reports a stored run: `assay report`.

    Args:
        run: its id, the beginning of one, "latest", or a result of it.
        **options: see assay.ReportOptions.

    Returns:
        The report, or the Conformance of a run of conform().

    Raises:
        UsageError: there is no such run.
        UnavailableError: the store cannot be read.
    """
    check_names(options, ReportOptions)
    kinds: tuple[type[Report | Conformance], ...] = (Report, Conformance)
    named = run if isinstance(run, str) else _run_id(run)
    return _answer(kinds, "report", options, [named])


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
    return _expect((Runs,), execute(["runs", *words], options))


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
    return _expect((History,), execute_twice(["history", *named], options))


def _answer(
    kinds: tuple[type[R], ...],
    verb: str,
    options: Mapping[str, Any],
    subjects: Sequence[object] = (),
    example_inputs: Sequence[Any] | None = None,
) -> R:
    """Runs the verb on its subjects (models, runs or files); leaves out those that are None."""
    references = [_reference(one, example_inputs) for one in subjects if one is not None]
    given = dict(options)
    recipe = given.get("recipe")
    for one in references:
        if recipe is not None and program_ending(one.ref) is not None and len(references) == 1:
            raise AssayError(
                f"{one.ref} is a finished program; recipe='{recipe}' is for models",
                code="invalid_argument",
            )
    origins = [one.origin for one in references if one.origin]
    if origins and verb != "reduce":
        given["label"] = {"origin": " ".join(origins), **(given.get("label") or {})}
    stores = [one.store for one in subjects if isinstance(one, Result) and one.store]
    if stores:
        given.setdefault("store", stores[0])
    quiet = [] if verb == "report" else ["--quiet"]
    return _expect(kinds, execute([verb, *(one.ref for one in references), *quiet], given))


def _reference(subject: object, example_inputs: Sequence[Any] | None) -> ModelReference:
    if isinstance(subject, Result):
        return ModelReference(f"run:{_run_id(subject)}")
    return reference_from_model(subject, example_inputs)


def _run_id(result: Result) -> str:
    run_id = getattr(result, "run_id", "")
    if not run_id:
        raise AssayError(
            f"a {type(result).__name__} belongs to no run; pass a run's id",
            code="invalid_argument",
        )
    return str(run_id)


def _expect(kinds: tuple[type[R], ...], result: Result) -> R:
    if not isinstance(result, kinds):
        names = " or ".join(kind.__name__ for kind in kinds)
        raise AssayError(
            f"the answer is a {type(result).__name__}, not a {names}; use a package and an assay "
            "of one version"
        )
    return result


def _document_from_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The spec with its schema; models that are files here get their whole path."""
    document = {"schema": "assay/spec/1", **spec}
    if isinstance(document.get("models"), list):
        document["models"] = [_model_from_spec(model) for model in document["models"]]
    return document


def _model_from_spec(model: Any) -> Any:
    if isinstance(model, Mapping):
        return {**model, "ref": _model_from_spec(model["ref"])} if "ref" in model else dict(model)
    file, colon, factory = str(model).partition(":")
    return f"{Path(file).absolute()}{colon}{factory}" if Path(file).is_file() else str(model)
