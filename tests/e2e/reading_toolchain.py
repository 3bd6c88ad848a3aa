"""The scripted toolchain with a factory that reads util.py next to it, and records that it did.

util.py holds a number, by which program and reference scale their outputs, or "drawn": then the
weights differ from call to call; or "hangs": then each job lasts until its limit of time.
"""

import hashlib
import json
import sys
import time
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # Assay starts Python without this folder.

import scripted_toolchain
from scripted_toolchain import Document

_answer = scripted_toolchain.answer


def scale_program(folder: Path, scale: float) -> None:
    path = folder / "program.fake.json"
    program = json.loads(path.read_text())
    program["output"] = {"rule": "affine", "a": 2 * scale, "b": 1}
    path.write_text(json.dumps(program))


def scale_outputs(folder: Path, scale: float) -> None:
    samples = scripted_toolchain.SAMPLES
    outputs = {
        f"{number}.0": [2 * scale * value + 1 for value in values]
        for number, values in enumerate(samples)
    }
    scripted_toolchain.write_safetensors(folder / "outputs.safetensors", outputs, "F32")
    (folder / "bounds.safetensors").unlink()


def answer(request: Document) -> Document:
    folder = Path(request["out_dir"])
    util = Path(request["model"]["ref"].partition(":")[0]).parent / "util.py"
    text = util.read_text().strip()
    if text == "hangs":
        time.sleep(request["timeout_ns"] / 1e9)
        words = f"after {request['timeout_ns'] // 1_000_000} ms"
        return {"outcome": "timed_out", "stage": "model", "text": words}
    done = _answer(request)
    is_drawn = text == "drawn"
    is_program = request["job"] == "build"
    (scale_program if is_program else scale_outputs)(folder, 1.0 if is_drawn else float(text))
    document = folder / ("manifest.json" if is_program else "reference.json")
    content = json.loads(document.read_text())
    document.unlink()
    content["files"] = scripted_toolchain.files_of(folder)
    content["model"] = {"weights_sha256": str(uuid.uuid4()) if is_drawn else "fixed"}
    document.write_text(json.dumps(content))
    write_dependencies(folder, util)
    return done | {"result": content}


def write_dependencies(folder: Path, read: Path) -> None:
    content = read.read_bytes()
    entry = {
        "path": str(read),
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    empty: Document = {name: [] for name in ("folders", "installed", "variables")}
    document = {"schema": "assay/dependencies/1", "recorded_ns": 0, "files": [entry], **empty}
    (folder / "dependencies.json").write_text(json.dumps(document))


if __name__ == "__main__":
    scripted_toolchain.answer = answer
    if "assay.toolchain.recipes.availability" in sys.argv:
        print(json.dumps({"missing": {}}))
    else:
        scripted_toolchain.main()
