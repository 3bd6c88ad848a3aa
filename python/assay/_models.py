"""Turns the models that users pass into references for the `assay` program, and into programs."""

import contextlib
import hashlib
import inspect
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay._command import EXIT_OK, error_from, run_assay
from assay._errors import AssayError
from assay._literals import ErrorCode
from assay._paths import assay_home

_PLACE = "stack_trace"
"""Key of a node's meta: where in the source it was made, with the text of the line."""

ENGINE_OF_ENDING = {
    ".pte": "executorch",
    ".onnx": "onnxruntime",
    ".tflite": "litert",
    ".tosa": "tosa",
    ".vgf": "vgf",
    ".xml": "openvino",
    ".fake.json": "fake",
}
"""Endings of program files, as in src/assay/spec/program_format.cpp, and what executes them."""

_FAILED = re.compile(r"^  (\w+) while (\w+): (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Program:
    """Files that an engine loads."""

    entry: Path
    data: tuple[Path, ...] = ()


@dataclass(frozen=True)
class ModelReference:
    """A model as the `assay` program takes it; `origin`: where it came from, "" for a reference."""

    ref: str
    origin: str = ""


def export(model: object, path: str | Path, *, example_inputs: Sequence[Any] | None = None) -> Path:
    """Exports a model to a .pt2 file, which every verb and load() take as a model.

    Args:
        model: a torch.nn.Module or a function of tensors, with example inputs; a pair (module,
            inputs); a torch.export.ExportedProgram; or a function without arguments that makes one.
        path: the file; its name has to end in .pt2.
        example_inputs: tensors to export with, in the order of the model's arguments.

    Raises:
        AssayError: it is none of these, torch.export refuses it, or the file cannot be written.
    """
    if not str(path).endswith(".pt2"):
        raise AssayError(f"{path}: the name has to end in .pt2", code="invalid_argument")
    exported, _ = _exported(model, example_inputs)
    _write_exported(exported, Path(path))
    return Path(path)


def reference_from_model(model: object, example_inputs: Sequence[Any] | None) -> ModelReference:
    """A reference to the model; one that lives in memory is saved in $ASSAY_HOME/models first.

    The file's folder is named by the digest of its bytes: the same model has the same reference
    from one process to the next, so runs of it can be compared, repeated and resumed.

    `model`: a reference or path, or what export() takes.

    Raises:
        AssayError: it is none of these, or torch.export refuses it.
    """
    if isinstance(model, (str, Path)):
        return ModelReference(str(model))
    exported, name = _exported(model, example_inputs)
    folder = assay_home() / "models"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as made:
        draft = Path(made, f"{name}.pt2")
        _write_exported(exported, draft)
        digest = hashlib.sha256(draft.read_bytes()).hexdigest()[:16]
        path = folder / digest / draft.name
        path.parent.mkdir(exist_ok=True)
        draft.replace(path)
    return ModelReference(str(path), f"python:{name}")


def program_ending(reference: str) -> str | None:
    """Returns the program format of a file by its name; None for a model."""
    return next((ending for ending in ENGINE_OF_ENDING if reference.endswith(ending)), None)


def make_program(reference: str, *, recipe: str, seed: int, folder: Path) -> Program:
    """Lets `assay aot` make the artifact, or take it from its cache, and copy it to `folder`.

    Raises:
        AssayError: the recipe or model is unknown, or the toolchain failed, with its stage.
    """
    out = folder / "program"
    done = run_assay(["aot", reference, "--recipe", recipe, "--seed", str(seed), "--out", out])
    if done.returncode != EXIT_OK:
        failed = _FAILED.search(done.stdout)
        if failed is None:
            raise error_from(done)
        outcome, stage, text = failed.groups()
        code: ErrorCode = "unsupported" if outcome == "unsupported" else "engine"
        raise AssayError(f"{reference} with {recipe}: {outcome}: {text}", code=code, stage=stage)
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    entry = manifest.get("entry")
    if entry is None:
        raise AssayError(f"{recipe} only lowers: it made no program to run", code="unsupported")
    names = [file["name"] for file in manifest["files"]]
    return Program(out / entry, tuple(out / name for name in names if name != entry))


def _exported(model: Any, example_inputs: Sequence[Any] | None) -> tuple[Any, str]:
    """The exported program, and what it is called."""
    torch = sys.modules.get("torch")
    name = ""
    if _is_factory(model, example_inputs):
        name = _name_of_model(model)
        model = model()
        torch = sys.modules.get("torch")
    if isinstance(model, tuple) and len(model) == 2 and example_inputs is None:
        model, example_inputs = model
    if torch is not None and isinstance(model, torch.export.ExportedProgram):
        return model, name or "exported"
    name = name or _name_of_model(model)
    if torch is not None and callable(model) and not isinstance(model, torch.nn.Module):
        model = _module_from_function(model)
    if torch is None or not isinstance(model, torch.nn.Module):
        raise AssayError(
            f"a {type(model).__name__} is no model; pass a reference such as "
            "'torchvision:mobilenet_v2', a file, a torch.nn.Module or a function of tensors with "
            "example_inputs, or an ExportedProgram",
            code="invalid_argument",
        )
    if example_inputs is None:
        raise AssayError(
            "a torch.nn.Module is exported with inputs: pass example_inputs=(x, …)",
            code="invalid_argument",
        )
    return _export(model, tuple(example_inputs)), name


def _is_factory(model: Any, example_inputs: Sequence[Any] | None) -> bool:
    """True for a function without parameters, which makes the model."""
    if example_inputs is not None or not inspect.isroutine(model):
        return False
    try:
        inspect.signature(model).bind()
    except (TypeError, ValueError):
        return False
    return True


def _name_of_model(model: Any) -> str:
    """A word for labels and file names: the class, or the function's name."""
    name = getattr(model, "__name__", "") if inspect.isroutine(model) else type(model).__name__
    return re.sub(r"\W+", "", name.replace("<lambda>", "function")) or "model"


def _module_from_function(function: Any) -> Any:
    import torch

    class FunctionModule(torch.nn.Module):  # type: ignore[misc]
        def forward(self, *inputs: Any) -> Any:
            return function(*inputs)

    return FunctionModule()


def _export(model: Any, example_inputs: tuple[Any, ...]) -> Any:
    import torch

    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        return torch.export.export(model, example_inputs)
    except Exception as error:
        text = next(iter(str(error).splitlines()), "")
        raise AssayError(
            f"torch.export refuses the model: {type(error).__name__}: {text}",
            code="engine",
            stage="export",
        ) from error
    finally:
        for module, is_training in modes:
            module.training = is_training


@contextlib.contextmanager
def _without_places(exported: Any) -> Iterator[None]:
    """Takes from the nodes where in the source they were made, and gives it back.

    A comment or another folder would make another file of the same model, with the user's paths.
    """
    graphs = [one for one in exported.graph_module.modules() if hasattr(one, "graph")]
    nodes = [node for one in graphs for node in one.graph.nodes if _PLACE in node.meta]
    places = [node.meta.pop(_PLACE) for node in nodes]
    try:
        yield
    finally:
        for node, place in zip(nodes, places, strict=True):
            node.meta[_PLACE] = place


def _write_exported(exported: Any, path: Path) -> None:
    import torch

    try:
        with _without_places(exported):
            torch.export.save(exported, path)
    except (OSError, RuntimeError) as error:
        raise AssayError(f"cannot save the model to {path}: {error}", code="unavailable") from error
