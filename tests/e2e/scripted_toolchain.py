"""A toolchain without torch: an interpreter that answers what `assay conform` asks for.

Its cases are programs of the fake engine that give 2 x + 1 for what they are given; `behaves` in
the arguments of a model says what goes wrong. Inputs hold a NaN; every case draws the same ones.
"""

import json
import struct
import sys
from pathlib import Path
from typing import Any

Document = dict[str, Any]

FAULTS = ("zero", "stale", "nan_to_zero", "one_element", "swapped", "negated")
"""Faults that a kernel of the fake engine may have."""

NAN = float("nan")
SAMPLES = [[1.5, -2.0, NAN, 4.0], [0.5, 3.0, NAN, -1.0], [-2.5, 1.0, NAN, 2.0]]
VECTOR = {"dtype": "float32", "shape": [1, 4]}
ITEM = {"F32": "f", "F64": "d"}


def cases() -> list[Document]:
    """Three of an operator that is right, one that is not delegated, and each way to be wrong."""
    named = [("aten.good", "right", index) for index in range(3)] + [("aten.left", "left", 0)]
    named += [(f"aten.{fault}", fault, 0) for fault in FAULTS]
    named += [("aten.refused", "unsupported", 0), ("aten.fragile", "crash", 0)]
    named += [("aten.unlowered", "aot_error", 0), ("aten.eager", "no_reference", 0)]
    return [
        {
            **{"name": f"{operator}/float32/{index}", "operator": operator, "dtype": "float32"},
            "model": {"ref": operator.replace(".", ":"), "args": {"behaves": how, "n": index}},
            **{"shape_class": "typical", "values": "normal", "tier": "quick", "joinable": True},
        }
        for operator, how, index in named
    ]


def write_safetensors(path: Path, tensors: dict[str, list[float]], dtype: str) -> None:
    """Vectors of four by name."""
    header, data = {}, b""
    for name, values in tensors.items():
        packed = struct.pack(f"<{len(values)}{ITEM[dtype]}", *values)
        end = len(data) + len(packed)
        header[name] = {"dtype": dtype, "shape": [1, 4], "data_offsets": [len(data), end]}
        data += packed
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def parts_of(model: Document) -> list[str]:
    """How each part of a model behaves."""
    models = model["args"].get("models", [model])
    return [one["args"].get("behaves", "right") for one in models]


def files_of(folder: Path) -> list[Document]:
    import hashlib

    return [
        {
            **{"name": path.name, "role": "program", "bytes": path.stat().st_size},
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        for path in sorted(folder.iterdir())
    ]


def delegation_of(part: str) -> Document:
    """Delegation of one part: all of it, or one node of two."""
    left = [{"name": "aten.left.default", "count": 1}] if part == "left" else []
    return {"nodes_delegated": 1, "nodes_not_delegated": len(left), "operators_left": left}


def build(request: Document, folder: Path) -> Document:
    """A program of the fake engine, or a refusal."""
    parts = parts_of(request["model"])
    for outcome in ("unsupported", "aot_error"):
        if outcome in parts:
            return {"outcome": outcome, "stage": "lower", "text": f"{outcome} on order"}
    if "invalid_request" in parts:
        told = {"stage": "model", "text": "net does not run with the inputs that are given"}
        return {"outcome": "aot_error", "reason_code": "invalid_request", **told}
    program: Document = {
        **{"inputs": [VECTOR] * len(parts), "outputs": [VECTOR] * len(parts)},
        "output": {"rule": "affine", "a": 2, "b": 1},
        "faults": [{"output": i, "do": how} for i, how in enumerate(parts) if how in FAULTS],
    }
    if "crash" in parts:
        program["misbehave"] = {"at": "first", "do": "segfault"}
    (folder / "program.fake.json").write_text(json.dumps(program))
    described: Document = delegation_of(parts[0])
    if len(parts) > 1:
        described["parts"] = [
            {
                **{"inputs": [i, i + 1], "outputs": [i, i + 1]},
                "delegation": delegation_of(part),
            }
            for i, part in enumerate(parts)
        ]
    manifest = {
        "schema": "assay/manifest/1",
        "entry": "program.fake.json",
        "files": files_of(folder),
        "program": described,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return {"outcome": "completed", "stage": "serialize", "result": manifest}


def reference(request: Document, folder: Path) -> Document:
    """Inputs, what is right for them, and a bound of one step of float32."""
    parts = parts_of(request["model"])
    if "no_reference" in parts:
        return {"outcome": "aot_error", "stage": "reference", "text": "eager raised on order"}
    inputs, outputs, bounds = {}, {}, {}
    for sample, values in enumerate(SAMPLES):
        right = [2 * value + 1 for value in values]
        for part in range(len(parts)):
            inputs[f"{sample}.{part}"] = values
            outputs[f"{sample}.{part}"] = right
            bounds[f"{sample}.{part}"] = [
                0.0 if value != value else abs(value) * 2.0**-23 for value in right
            ]
    write_safetensors(folder / "inputs.safetensors", inputs, "F32")
    write_safetensors(folder / "outputs.safetensors", outputs, "F64")
    write_safetensors(folder / "bounds.safetensors", bounds, "F64")
    document = {
        "schema": "assay/reference/1",
        "kind": request["kind"],
        "samples": len(SAMPLES),
        "outputs": [{"dtype": "float64", "own_dtype": "float32"} for _ in parts],
        "files": files_of(folder),
    }
    (folder / "reference.json").write_text(json.dumps(document))
    return {"outcome": "completed", "stage": "reference", "result": document}


def answer(request: Document) -> Document:
    """Result of one job."""
    if request["job"] == "conform":
        coverage = [{"operator": "aten.good", "cases": 3, "reason": None}]
        coverage.append({"operator": "aten.none", "cases": 0, "reason": "nobody draws it"})
        return {"outcome": "completed", "result": {"cases": cases(), "coverage": coverage}}
    folder = Path(request["out_dir"])
    return (build if request["job"] == "build" else reference)(request, folder)


def serve() -> None:
    print(json.dumps({"event": "ready"}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        done = {"event": "done", "id": request["id"], **answer(request)}
        print(json.dumps(done), flush=True)


def main() -> None:
    module = sys.argv[3] if sys.argv[1:2] == ["-c"] else ""
    if module == "assay.toolchain.identity":
        print(json.dumps({"id": "scripted", "packages": {}}))
    elif module == "assay.toolchain.server":
        serve()
    else:
        raise SystemExit(f"asked for {module}")


if __name__ == "__main__":
    main()
