"""The verbs of the `assay` program as functions that return typed results.

The keywords of a verb are the flags of the command line (`assay bench --help`): _options.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from assay._answers import Calibration, Comparison, Profile
from assay._calls import answer
from assay._correctness import Conformance, Coverage, Reduction
from assay._options import (
    AttributeOptions,
    BenchOptions,
    CalibrateOptions,
    CompareOptions,
    ConformOptions,
    CoverageOptions,
    EvaluateOptions,
    ProfileOptions,
    ReduceOptions,
    RunOptions,
    check_names,
    explained,
)
from assay._report import Report
from assay._result import Result
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
    return answer(Report, "bench", options, [model], example_inputs)


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
    return answer(Report, "eval", options, [model], example_inputs)


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
    return answer(Report, "attribute", options, [model], example_inputs)


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
    return answer(Comparison, "compare", options, [model, other], example_inputs)


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
    return answer(Profile, "profile", options, [model, other], example_inputs)


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
        return answer(Report, "run", options, [None if spec is None else str(spec)])
    with TemporaryFolder("run") as folder:
        path = Path(folder, "spec.json")
        path.write_text(json.dumps(_document_from_spec(spec)))
        return answer(Report, "run", options, [path])


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
    return answer(Conformance, "conform", options)


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
    return answer(Coverage, "conform", {**options, "coverage": True})


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
    return answer(Reduction, "reduce", options, [model], example_inputs)


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
    return answer(Calibration, "calibrate", options, [program])


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
