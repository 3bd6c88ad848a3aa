"""How far engines that are right are from the default bounds of float32, and which faults fail.

    python bench/default_bounds.py FOLDER [--models REF …] [--recipes NAME …]

Evaluates models with recipes that do not quantize, and prints for each case its errors against
float32, the errors of float32 itself (the sensitivity), and the largest ratio of an error to its
bound, by the bounds of now and by those before: 1e-4 and 1e-3 for every network, the latter in
units of the output's rms. Then the least fault of three kinds that fails by either: all elements
too large, one element off (the largest one), one element off (the smallest one). They are found
in the reference's outputs. FOLDER keeps programs and store.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(os.environ.get("ASSAY_BIN_DIR", ROOT / "build" / "release" / "bin"))
OWN = "bench/default_bounds_models.py"
MODELS = (
    f"{OWN}:recognizer",
    f'{OWN}:recognizer{{"spread": 0.8}}',
    f"{OWN}:amplifier",
    f'{OWN}:amplifier{{"depth": 12}}',
    "torchvision:mobilenet_v3_small",
    "torchvision:squeezenet1_1",
    "torchvision:shufflenet_v2_x0_5",
)
RECIPES = ("executorch/portable", "executorch/xnnpack-fp32", "onnxruntime/fp32", "openvino/fp32")
L2, LARGEST = 1e-4, 1e-3
ANSWERED = (0, 1, 6)


@dataclass(frozen=True)
class Bounds:
    """Limits of the relative L2 error and of the largest error, in units of a scale."""

    l2: float
    largest: float
    has_own_scale: bool

    def ratio(self, found: torch.Tensor, reference: torch.Tensor) -> float:
        """The larger ratio of an error to its limit; above 1 it fails."""
        off, size = (found - reference).abs(), reference.abs()
        rms = size.square().mean().sqrt()
        scale = size.clamp(min=float(rms)) if self.has_own_scale else rms
        l2 = off.norm() / size.norm()
        return max(float(l2) / self.l2, float((off / scale).max()) / self.largest)


BEFORE = Bounds(L2, LARGEST, has_own_scale=False)


def evaluate(folder: Path, model: str, recipe: str) -> dict[str, Any]:
    """The case of a report: one model with one recipe against float32.

    Raises:
        RuntimeError: Assay gave no answer.
    """
    ref, brace, args = model.partition("{")
    document = {"ref": str(ROOT / ref) if ref.startswith("bench/") else ref}
    if brace:
        document["args"] = json.loads(brace + args)
    spec = folder / "bounds_spec.json"
    content = {
        "schema": "assay/spec/1",
        "name": "bounds",
        "models": [document],
        "recipes": [recipe],
        "measure": {"passes": ["evaluate"]},
        "evaluate": {"against": ["float32"], "samples": 3},
    }
    spec.write_text(json.dumps(content))
    env = {**os.environ, "ASSAY_HOME": str(folder)}
    command = [str(BIN / "assay"), "run", str(spec), "--quiet", "--format", "json"]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode not in ANSWERED:
        raise RuntimeError(f"{model} {recipe}: {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)["cases"][0]


def reference_of(folder: Path, model: str) -> tuple[dict[str, Any], torch.Tensor]:
    """The newest float32 reference of a model: its first output as told, and its values."""
    ref, brace, args = model.partition("{")
    wanted = json.loads(brace + args) if brace else {}
    for path in sorted(folder.rglob("reference.json"), key=lambda p: -p.stat().st_mtime):
        document = json.loads(path.read_text())
        known = document["model"]
        if known["ref"].endswith(ref) and known["args"] == wanted and document["kind"] == "float32":
            tensors = load_file(path.parent / "outputs.safetensors")
            values = [t.double().reshape(-1) for name, t in tensors.items() if name.endswith(".0")]
            return document["outputs"][0], torch.cat(values)
    raise RuntimeError(f"no reference of {model} in {folder}")


def least_fault(bounds: Bounds, reference: torch.Tensor, fault: Callable[[float], Any]) -> float:
    """The least size of a fault that fails, by bisection of its logarithm."""
    low, high = -9.0, 3.0
    for _ in range(40):
        middle = (low + high) / 2
        fails = bounds.ratio(fault(10**middle), reference) > 1
        low, high = (low, middle) if fails else (middle, high)
    return 10**high


def faults_in(reference: torch.Tensor) -> dict[str, Callable[[float], torch.Tensor]]:
    """Faults by the share by which they are wrong; one element by a share of the rms."""
    rms = float(reference.square().mean().sqrt())

    def off_at(place: int) -> Callable[[float], torch.Tensor]:
        def make(size: float) -> torch.Tensor:
            found = reference.clone()
            found[place] += size * rms
            return found

        return make

    size = reference.abs()
    return {
        "all": lambda share: reference * (1 + share),
        "largest": off_at(int(size.argmax())),
        "smallest": off_at(int(size.argmin())),
    }


def row_of(folder: Path, model: str, recipe: str) -> dict[str, Any]:
    """Reads one case: errors, sensitivity, ratios to both bounds, least faults."""
    case = evaluate(folder, model, recipe)
    row: dict[str, Any] = {"model": model.removeprefix(OWN + ":"), "recipe": recipe}
    tables = case["accuracy_tables"]
    if not tables or not tables[0]["outputs"]:
        return {**row, "text": case["text"] or case["outcome"]}
    output = tables[0]["outputs"][0]
    value = {name: metric["value"] for name, metric in output["metrics"].items()}
    told, reference = reference_of(folder, model)
    now = Bounds(output["bounds"]["relative_l2_error"], output["bounds"]["scaled_max_error"], True)
    rms = float(reference.square().mean().sqrt())
    faults = faults_in(reference)
    return {
        **row,
        "verdict": tables[0]["accuracy"],
        "l2": value["relative_l2_error"],
        "largest": value["scaled_max_error"],
        "sensitivity": told.get("sensitivity"),
        "before": max(value["relative_l2_error"] / L2, value["max_abs_error"] / rms / LARGEST),
        "now": max(value["relative_l2_error"] / now.l2, value["scaled_max_error"] / now.largest),
        "faults_before": {n: least_fault(BEFORE, reference, f) for n, f in faults.items()},
        "faults_now": {n: least_fault(now, reference, f) for n, f in faults.items()},
    }


def main() -> None:
    """Measures all cases and writes rows.json; prints a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--recipes", nargs="+", default=RECIPES)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    rows = []
    for model in options.models:
        for recipe in options.recipes:
            rows.append(row_of(options.folder.resolve(), model, recipe))
            print(text_of(rows[-1]), flush=True)
            (options.folder / "rows.json").write_text(json.dumps(rows, indent=1))


def text_of(row: dict[str, Any]) -> str:
    """A row of the table in docs/results/bounds.md."""
    if "text" in row:
        return cells(row["model"], row["recipe"], row["text"])
    lost = row["sensitivity"] or {}
    by_float32 = " / ".join(
        f"{lost.get(name, 0):.1e}" for name in ("relative_l2_error", "scaled_max_error")
    )
    names = ("all", "largest", "smallest")
    return cells(
        row["model"],
        row["recipe"],
        row["verdict"],
        f"{row['l2']:.1e} / {row['largest']:.1e}",
        by_float32,
        f"{row['before']:.3g}",
        f"{row['now']:.3g}",
        " / ".join(f"{row['faults_before'][name]:.2g}" for name in names),
        " / ".join(f"{row['faults_now'][name]:.2g}" for name in names),
    )


def cells(*texts: Sequence[str] | str) -> str:
    """A line of a table."""
    return "| " + " | ".join(map(str, texts)) + " |"


if __name__ == "__main__":
    main()
