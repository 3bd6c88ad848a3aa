"""assay.bench, assay.evaluate and assay.run: the `assay` program, with its report as a value."""

from __future__ import annotations

import difflib
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from assay._command import EXIT_FINDINGS, EXIT_OK, error_from, run_assay
from assay._errors import AssayError
from assay._models import program_ending, reference_of
from assay._report import Report, read_report

if TYPE_CHECKING:
    from typing_extensions import Unpack


class RunOptions(TypedDict, total=False):
    """What every measurement takes; each is the flag of the same name (`assay run --help`)."""

    baseline: str
    jobs: int
    label: Mapping[str, str]
    library: str | Path | Sequence[str | Path]
    only: str
    plugin: str | Path | Sequence[str | Path]
    python: str | Path
    rebuild: bool
    store: str | Path


class ModelOptions(RunOptions, total=False):
    """What measurements of one model take; each is the flag of the same name.

    `options`: of the engine, by name; a list of values makes a case of each.
    `input_shapes`: one for each input. `inputs`: a file or folder of them, or "file.py:NAME".
    `dimensions`: sizes by name that a program leaves open.
    """

    dimensions: Mapping[str, int]
    engine: str | Sequence[str]
    inputs: str | Path
    input_shapes: Sequence[Sequence[int]]
    options: Mapping[str, Any]
    require: str | Sequence[str]
    seed: int
    threads: int | Sequence[int]


class BenchOptions(ModelOptions, total=False):
    """What `assay bench` takes besides; `time_budget` has a unit ("5s"), `warmup` may be "auto"."""

    iterations: int
    launches: int
    profile: bool
    time_budget: str
    warmup: int | str


class EvaluateOptions(ModelOptions, total=False):
    """What `assay eval` takes besides what evaluate() names.

    `expected`: a file with the outputs that are expected of `inputs`. `parity`: random inputs, too.
    """

    expected: str | Path
    parity: bool


def bench(
    model: object,
    *,
    recipe: str | Sequence[str] | None = None,
    example_inputs: Sequence[Any] | None = None,
    **options: Unpack[BenchOptions],
) -> Report:
    """Measures how fast a model or program is: `assay bench`.

    Args:
        model: as assay.load takes it.
        recipe: one or several; None for program files, or the program's default.
        example_inputs: to export a torch.nn.Module with.
        **options: see BenchOptions; docs/python.md lists them.

    Returns:
        The report; findings (exit code 1) are in it, not raised.

    Raises:
        AssayError: wrong usage (invalid_argument), or nothing could run (unavailable).
    """
    _check_names(options, BenchOptions)
    return _measure_model("bench", model, recipe, example_inputs, dict(options))


def evaluate(
    model: object,
    *,
    recipe: str | Sequence[str] | None = None,
    against: str | Sequence[str] | None = None,
    samples: int | None = None,
    example_inputs: Sequence[Any] | None = None,
    **options: Unpack[EvaluateOptions],
) -> Report:
    """Measures how far a model's outputs are from its references: `assay eval`.

    Args:
        model: as assay.load takes it; a program file needs a reference: "file" or "engine:NAME".
        recipe: one or several.
        against: kinds of reference: "float32", "float64", "qdq", "file", "engine:NAME".
        samples: how many inputs to compare on.
        example_inputs: to export a torch.nn.Module with.
        **options: see EvaluateOptions; docs/python.md lists them.

    Returns:
        The report; findings (exit code 1) are in it, not raised.

    Raises:
        AssayError: wrong usage (invalid_argument), or nothing could run (unavailable).
    """
    _check_names(options, EvaluateOptions)
    given = {**options, "against": against, "samples": samples}
    return _measure_model("eval", model, recipe, example_inputs, given)


def run(spec: str | Path | Mapping[str, Any], **options: Unpack[RunOptions]) -> Report:
    """Measures and evaluates the cases of a spec: `assay run`.

    Args:
        spec: a path, or the document itself; in a document, models in files are found from the
            current folder (give other paths whole), and "schema" may be left out.
        **options: see RunOptions; docs/python.md lists them.

    Returns:
        The report; findings (exit code 1) are in it, not raised.

    Raises:
        AssayError: a fault in the spec (invalid_argument), or nothing could run (unavailable).
    """
    _check_names(options, RunOptions)
    with tempfile.TemporaryDirectory(prefix="assay-run-") as folder:
        if isinstance(spec, Mapping):
            path = Path(folder, "spec.json")
            path.write_text(json.dumps(_document_from(spec)))
        else:
            path = Path(spec)
        return _report_of(["run", str(path)], dict(options), Path(folder))


def _measure_model(
    verb: str,
    model: object,
    recipe: str | Sequence[str] | None,
    example_inputs: Sequence[Any] | None,
    options: dict[str, Any],
) -> Report:
    with tempfile.TemporaryDirectory(prefix=f"assay-{verb}-") as folder:
        reference = reference_of(model, example_inputs, Path(folder))
        if recipe is not None and program_ending(reference) is not None:
            raise AssayError(
                f"{reference} is a finished program; recipe='{recipe}' is for models",
                code="invalid_argument",
            )
        return _report_of([verb, reference], {**options, "recipe": recipe}, Path(folder))


def _report_of(arguments: list[str], options: dict[str, Any], folder: Path) -> Report:
    out = folder / "report.json"
    flags = _flags_from(options)
    done = run_assay([*arguments, *flags, "--format", "json", "--out", out, "--quiet"])
    if done.returncode not in (EXIT_OK, EXIT_FINDINGS) and not _has_content(out):
        raise error_from(done)
    store = options.get("store")
    return read_report(out, exit_code=done.returncode, store=None if store is None else str(store))


def _document_from(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The spec with its schema; models that are files here get their whole path."""
    document = {"schema": "assay/spec/1", **spec}
    if isinstance(document.get("models"), list):
        document["models"] = [_model_from(model) for model in document["models"]]
    return document


def _model_from(model: Any) -> Any:
    if isinstance(model, Mapping):
        return {**model, "ref": _model_from(model["ref"])} if "ref" in model else dict(model)
    file, colon, factory = str(model).partition(":")
    return f"{Path(file).absolute()}{colon}{factory}" if Path(file).is_file() else str(model)


def _has_content(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0


def _check_names(options: Mapping[str, Any], allowed: Any) -> None:
    """Refuses options that the verb lacks, with the nearest name."""
    names = sorted(allowed.__annotations__)
    for name in options:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(names)}"
            raise AssayError(f"unknown option '{name}'; {hint}", code="invalid_argument")


def _flags_from(options: Mapping[str, Any]) -> list[str]:
    """The command line's flags; None is left out, a list is the flag once for each entry."""
    flags: list[str] = []
    for name, value in options.items():
        if name == "options":
            flags += _repeated("--option", [f"{k}={_values(v)}" for k, v in value.items()])
        elif name == "label":
            flags += _repeated("--label", [f"{k}={v}" for k, v in value.items()])
        elif name == "dimensions":
            flags += _repeated("--dimension", [f"{k}={v}" for k, v in value.items()])
        elif name == "input_shapes":
            flags += _repeated("--input-shape", [",".join(map(str, s)) for s in value])
        elif value is True:
            flags.append(f"--{name.replace('_', '-')}")
        elif value is not None and value is not False:
            flags += _repeated(f"--{name.replace('_', '-')}", _listed(value))
    return flags


def _repeated(flag: str, values: Sequence[Any]) -> list[str]:
    return [part for value in values for part in (flag, str(value))]


def _listed(value: Any) -> list[Any]:
    return [value] if isinstance(value, (str, int, float, Path)) else list(value)


def _values(value: Any) -> str:
    """Values of an engine's option as the command line writes them: booleans in lower case."""
    return ",".join(v if isinstance(v, str) else json.dumps(v) for v in _listed(value))
