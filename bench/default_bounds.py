"""Measures how far correct engines are from the default bounds of float32, and which faults fail.

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


def document_of(model: str) -> dict[str, Any]:
    """A model of a spec: its reference, with the arguments that stand in braces behind it."""
    ref, brace, args = model.partition("{")
    document: dict[str, Any] = {"ref": ref if ref.startswith("torchvision:") else str(ROOT / ref)}
    return {**document, "args": json.loads(brace + args)} if brace else document


def evaluate(folder: Path, models: Sequence[str], recipes: Sequence[str]) -> list[dict[str, Any]]:
    """The cases of a report: each model with each recipe against float32.

    Raises:
        RuntimeError: Assay gave no answer.
    """
    spec = folder / "bounds_spec.json"
    content = {
        "schema": "assay/spec/1",
        "name": "bounds",
        "models": [document_of(model) for model in models],
        "recipes": recipes,
        "measure": {"passes": ["evaluate"]},
        "evaluate": {"against": ["float32"], "samples": 3},
    }
    spec.write_text(json.dumps(content))
    env = {**os.environ, "ASSAY_HOME": str(folder)}
    command = [str(BIN / "assay"), "run", str(spec), "--format", "json"]
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True)
    if done.returncode not in ANSWERED:
        raise RuntimeError(f"assay run {spec}: {done.returncode}")
    cases: list[dict[str, Any]] = json.loads(done.stdout)["cases"]
    return cases


def name_of(ref: str) -> str:
    """A model's file without its folder and ending, and its factory."""
    return ref.rsplit("/", 1)[-1].replace(".py:", ":")


def reference_of(
    folder: Path, model: dict[str, Any], output: int
) -> tuple[dict[str, Any], torch.Tensor]:
    """The newest float32 reference of a model: an output as told, and its values in all samples."""
    for path in sorted(folder.rglob("reference.json"), key=lambda p: -p.stat().st_mtime):
        document = json.loads(path.read_text())
        known = document["model"]
        is_one = name_of(known["ref"]) == name_of(model["ref"]) and known["args"] == model["args"]
        if is_one and document["kind"] == "float32":
            tensors = load_file(path.parent / "outputs.safetensors")
            ending = f".{output}"
            values = [t.double().reshape(-1) for n, t in tensors.items() if n.endswith(ending)]
            return document["outputs"][output], torch.cat(values)
    raise RuntimeError(f"no reference of {model['ref']} in {folder}")


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


def rows_of(folder: Path, case: dict[str, Any]) -> list[dict[str, Any]]:
    """The outputs of one case: errors, sensitivity, ratios to both bounds, least faults."""
    model = case["identity"]["model"]
    row = {"model": case["model"], "args": model["args"], "recipe": case["recipe"]}
    tables = case["accuracy_tables"]
    if not tables or not tables[0]["outputs"]:
        return [{**row, "text": case["text"] or case["outcome"]}]
    verdict = {"verdict": tables[0]["accuracy"]}
    outputs = enumerate(tables[0]["outputs"])
    return [{**row, **verdict, **errors_of(folder, model, *numbered)} for numbered in outputs]


def errors_of(
    folder: Path, model: dict[str, Any], number: int, output: dict[str, Any]
) -> dict[str, Any]:
    """The cells of an output: its errors, its bounds, and the faults that break them."""
    told, reference = reference_of(folder, model, number)
    value = {name: metric["value"] for name, metric in output["metrics"].items()}
    if "sqnr_db" in output["bounds"]:
        return {"sqnr_db": value["sqnr_db"], "least_sqnr_db": output["bounds"]["sqnr_db"]}
    now = Bounds(output["bounds"]["relative_l2_error"], output["bounds"]["scaled_max_error"], True)
    rms = float(reference.square().mean().sqrt())
    faults = faults_in(reference)
    return {
        "output": output["output"],
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
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    cases = evaluate(folder, options.models, options.recipes)
    rows = [row for case in cases for row in rows_of(folder, case)]
    (folder / "rows.json").write_text(json.dumps(rows, indent=1))
    print("\n".join(text_of(row) for row in rows))


def text_of(row: dict[str, Any]) -> str:
    """A row of the table in docs/results/bounds.md."""
    if "text" in row:
        return cells(row["model"], row["recipe"], row["text"])
    if "sqnr_db" in row:
        found = f"{row['sqnr_db']:.1f} dB, at least {row['least_sqnr_db']:.1f}"
        return cells(row["model"], row["recipe"], row["verdict"], found)
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
