"""Calls of the `assay` program whose results have a known type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from assay._answers import StoredComparison
from assay._correctness import Conformance
from assay._errors import AssayError
from assay._execute import execute
from assay._models import ModelReference, program_ending, reference_from_model
from assay._report import Report
from assay._result import Result

R = TypeVar("R", bound=Result)


def answer(
    kind: type[R],
    verb: str,
    options: Mapping[str, Any],
    subjects: Sequence[object] = (),
    example_inputs: Sequence[Any] | None = None,
) -> R:
    """Runs the verb on its subjects (models, runs or files); leaves out those that are None."""
    models = [_reference(subject, example_inputs) for subject in subjects if subject is not None]
    given = with_store(options, subjects)
    recipe = given.get("recipe")
    if recipe is not None and len(models) == 1 and program_ending(models[0].ref) is not None:
        raise AssayError(
            f"{models[0].ref} is a finished program; recipe='{recipe}' is for models",
            code="invalid_argument",
        )
    origins = [model.origin for model in models if model.origin]
    if origins and verb != "reduce":
        given["label"] = {"origin": " ".join(origins), **(given.get("label") or {})}
    return expect(kind, execute([verb, *(model.ref for model in models), "--quiet"], given))


def with_store(options: Mapping[str, Any], subjects: Sequence[object]) -> dict[str, Any]:
    """The options; without a store among them, the store of the first result that has one."""
    stores = [subject.store for subject in subjects if isinstance(subject, Result)]
    store = next((store for store in stores if store), None)
    return dict(options) if store is None else {"store": store, **options}


def _reference(subject: object, example_inputs: Sequence[Any] | None) -> ModelReference:
    if isinstance(subject, Result):
        return ModelReference(f"run:{run_id_of(subject)}")
    return reference_from_model(subject, example_inputs)


def run_id_of(run: str | Result) -> str:
    """The id of a run that is named, or of the run that a result belongs to.

    Raises:
        UsageError: the result belongs to no run.
    """
    if isinstance(run, str):
        return run
    run_id = getattr(run, "run_id", "")
    if not run_id:
        raise AssayError(
            f"a {type(run).__name__} belongs to no run; pass a run's id",
            code="invalid_argument",
        )
    return str(run_id)


def expect(kind: type[R], result: Result) -> R:
    """The result itself, known to be of the kind.

    Raises:
        UsageError: it is of another kind, which another function returns.
        InternalError: it is of a kind that no function returns for this command.
    """
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
