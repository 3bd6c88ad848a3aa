"""What a user calls a model, as a reference that the `assay` program takes, and as a program."""

import hashlib
import json
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay._command import EXIT_OK, error_from, run_assay
from assay._errors import AssayError
from assay._paths import assay_home

ENGINE_OF_ENDING = {
    ".pte": "executorch",
    ".onnx": "onnxruntime",
    ".tflite": "litert",
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


def reference_of(model: object, example_inputs: Sequence[Any] | None, folder: Path) -> str:
    """A reference to the model; one that lives in memory is exported into `folder` first.

    `model`: a reference or path, a torch.nn.Module (with example inputs), a pair (module, inputs)
    or an ExportedProgram.

    Raises:
        AssayError: it is none of these, or torch.export refuses it.
    """
    if isinstance(model, (str, Path)):
        return str(model)
    if isinstance(model, tuple) and len(model) == 2 and example_inputs is None:
        model, example_inputs = model
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(model, (torch.nn.Module, torch.export.ExportedProgram)):
        raise AssayError(
            f"a {type(model).__name__} is no model; pass a reference such as "
            "'torchvision:mobilenet_v2', a file, a torch.nn.Module with example_inputs, or an "
            "ExportedProgram",
            code="invalid_argument",
        )
    exported = _exported(model, example_inputs)
    path = folder / "model.pt2"
    torch.export.save(exported, path)
    return str(_kept(path))


def _kept(exported: Path) -> Path:
    """The file in Assay's home, by its content: a report names it, and it can be measured again."""
    folder = assay_home() / "models" / hashlib.sha256(exported.read_bytes()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.move(exported, folder / exported.name))


def program_ending(reference: str) -> str | None:
    """Which program format the file has by its name; None for a model."""
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
        code = "unsupported" if outcome == "unsupported" else "engine"
        raise AssayError(f"{reference} with {recipe}: {outcome}: {text}", code=code, stage=stage)
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    entry = manifest.get("entry")
    if entry is None:
        raise AssayError(f"{recipe} only lowers: it made no program to run", code="unsupported")
    names = [file["name"] for file in manifest["files"]]
    return Program(out / entry, tuple(out / name for name in names if name != entry))


def _exported(model: Any, example_inputs: Sequence[Any] | None) -> Any:
    import torch

    if isinstance(model, torch.export.ExportedProgram):
        return model
    if example_inputs is None:
        raise AssayError(
            "a torch.nn.Module is exported with inputs: pass example_inputs=(x, …)",
            code="invalid_argument",
        )
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        return torch.export.export(model, tuple(example_inputs))
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
