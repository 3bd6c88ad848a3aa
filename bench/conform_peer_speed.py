"""Cases a second of `assay conform` and of the operator tests that ExecuTorch ships.

    python bench/conform_peer_speed.py build/release/bin [--files 8] [--seed 1]

Draws operators, runs ExecuTorch's tests of them (executorch.backends.test.suite, flows portable and
xnnpack, two processes by pytest-xdist), then Assay's float32 cases of the same operators on
portable and XNNPACK (tier full, two jobs, nothing cached). Both need the machine for themselves.
Prints a line of JSON: cases, seconds and cases a second of each, and their ratio.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from importlib import resources
from pathlib import Path
from typing import Any

FLOWS = ("portable", "xnnpack")
RECIPES = "executorch/portable,executorch/xnnpack-fp32"
OPERATORS = {
    "adaptive_avgpool2d": "_adaptive_avg_pool2d", "avgpool2d": "avg_pool2d", "cat": "cat",
    "ceil": "ceil", "clamp": "clamp", "conv1d": "conv1d", "conv2d": "conv2d", "div": "div",
    "elu": "elu", "exp": "exp", "floor": "floor", "gelu": "gelu", "hardswish": "hardswish",
    "hardtanh": "hardtanh", "leaky_relu": "leaky_relu", "linear": "linear", "log": "log",
    "maxpool2d": "max_pool2d", "mean": "mean", "mul": "mul", "neg": "neg", "permute": "permute",
    "pow": "pow", "relu": "relu", "rsqrt": "rsqrt", "select": "select", "sigmoid": "sigmoid",
    "silu": "silu", "slice": "slice", "sqrt": "sqrt", "sub": "sub", "tanh": "tanh",
    "unsqueeze": "unsqueeze", "view": "view",
}  # fmt: skip
"""The suite's files whose operator Assay has by one name, which stands beside."""

COUNTER = """
import os
def pytest_runtest_teardown(item):
    runner = getattr(item, "funcargs", {}).get("test_runner")
    if runner is not None:
        with open(os.environ["COUNTED"], "a") as file:
            file.write("x" * len(runner._results))
"""


def time_suite(names: list[str], folder: Path) -> dict[str, float]:
    """ExecuTorch's tests of these operators."""
    suite = Path(str(resources.files("executorch.backends.test.suite")))
    counted = folder / "counted"
    counted.touch()
    (folder / "counting_calls.py").write_text(COUNTER)
    files = [str(suite / "operators" / f"test_{name}.py") for name in names]
    flows = " or ".join(f"flow_{flow}" for flow in FLOWS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "2"]
    command += ["-p", "counting_calls", "-m", flows]
    command += ["-c", os.devnull, "--rootdir", str(suite), *files]
    env = {**os.environ, "PYTHONPATH": str(folder), "COUNTED": str(counted)}
    begin = time.monotonic()
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - begin
    cases = len(counted.read_text())
    if cases == 0:
        raise SystemExit(f"no test of the suite ran:\n{done.stdout}\n{done.stderr}")
    return {"cases": cases, "seconds": seconds}


def time_assay(names: list[str], binaries: Path, folder: Path) -> dict[str, float]:
    """Assay's cases of the same operators."""
    matches = ",".join(f"aten.{OPERATORS[name]}.*" for name in names)
    command = [str(binaries / "assay"), "conform", "--recipe", RECIPES, "--tier", "full"]
    command += ["--dtype", "float32", "--match", matches, "--batch", "64"]
    command += ["--format", "json", "--quiet"]
    env = {**os.environ, "ASSAY_HOME": str(folder / "home")}
    begin = time.monotonic()
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - begin
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    report: dict[str, Any] = json.loads(done.stdout)
    return {"cases": len(report["results"]), "seconds": seconds}


def main() -> None:
    """Measures both and prints them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binaries", type=Path)
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    names = random.Random(options.seed).sample(sorted(OPERATORS), options.files)
    with tempfile.TemporaryDirectory() as name:
        suite = time_suite(names, Path(name))
        assay = time_assay(names, options.binaries.resolve(), Path(name))
    rates = [side["cases"] / side["seconds"] for side in (suite, assay)]
    document = {"operators": names, "suite": suite, "assay": assay, "ratio": rates[1] / rates[0]}
    print(json.dumps(document))


if __name__ == "__main__":
    main()
