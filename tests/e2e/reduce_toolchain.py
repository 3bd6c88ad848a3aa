"""The scripted toolchain with a network of 16 operators, which fails where two of them meet.

Executed as the Python of a bundle's script, it ends with the code that REPRO_EXIT holds.
"""

import os
import sys
import time
from pathlib import Path

# Assay starts its toolchain with a path that leaves the script's folder out.
sys.path.insert(0, str(Path(__file__).parent))

import scripted_toolchain
from scripted_toolchain import Document

NODES = [f"op{index}" for index in range(16)]
CULPRITS = ("op3", "op12")
PAUSE_S = 0.02
"""Seconds that each build takes, so that a test can interrupt it."""

_parts_of = scripted_toolchain.parts_of
_build = scripted_toolchain.build
_answer = scripted_toolchain.answer


def parts_of(model: Document) -> list[str]:
    """How the network, or a piece of it, behaves."""
    if model["ref"] not in ("net:wide", "piece:nodes"):
        return _parts_of(model)
    nodes = model["args"].get("nodes", NODES)
    return ["crash" if all(one in nodes for one in CULPRITS) else "right"]


def build(request: Document, folder: object) -> Document:
    """As slow as a build is."""
    time.sleep(PAUSE_S)
    return _build(request, folder)


def answer(request: Document) -> Document:
    """Result of one job."""
    if request["job"] == "nodes":
        nodes = [{"name": name, "operator": "aten.op", "call": None} for name in NODES]
        return {"outcome": "completed", "result": {"nodes": nodes}}
    if request["job"] == "script":
        has_one = "REPRO_EXIT" in os.environ
        if has_one:
            (Path(request["out_dir"]) / "repro.py").touch()
        written = {"file": "repro.py"} if has_one else {"unavailable": "nobody wrote one"}
        return {"outcome": "completed", "result": written}
    if request["job"] == "conform":
        case = {"name": "models/wide", "operator": "wide", "model": {"ref": "net:wide"}}
        return {"outcome": "completed", "result": {"cases": [case]}}
    return _answer(request)


if __name__ == "__main__":
    if sys.argv[-1].endswith("repro.py"):
        sys.exit(int(os.environ["REPRO_EXIT"]))
    scripted_toolchain.parts_of = parts_of
    scripted_toolchain.build = build
    scripted_toolchain.answer = answer
    scripted_toolchain.main()
