"""Processor time of a job that makes a program of one operator, in a warm fork server.

    python bench/aot_job_cost.py [--rounds 5] RECIPE...

Each recipe's jobs run twice over, in turn: in a server as it is, and in one in which torch is not
made faster (server/torch_caching.py) and modules that jobs imported are not kept
(server/preimports.py). Prints the medians of their stages' sums in seconds and the ratio.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

IMPORTS = "import sys; from assay.toolchain.server import server, torch_caching; "
RUN = "sys.exit(server.main(['--jobs', '1']))"
PLAIN = "torch_caching._prepare = lambda quicken: None; server.preimport = lambda names: None; "
"""Turns the caches off."""

TENSOR = {"dtype": "float32", "shape": [4, 4]}
OPERATORS = ("aten:add.Tensor", "aten:mm.default", "aten:mul.Tensor")


class Server:
    """A fork server that runs one job at a time."""

    def __init__(self, program: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYTHONPATH": "python"},
        )
        self._wait_for("ready")

    def seconds_of(self, recipe: str, operator: str) -> float:
        """Processor time of all stages of one build. Raises where it fails."""
        with tempfile.TemporaryDirectory() as folder:
            model = {"ref": operator, "args": {"args": [TENSOR, TENSOR], "kwargs": {}}, "seed": 0}
            request = {"id": 1, "job": "build", "model": model, "recipe": recipe, "out_dir": folder}
            assert self._process.stdin is not None
            print(json.dumps(request), file=self._process.stdin, flush=True)
            done = self._wait_for("done")
        if done["outcome"] != "completed":
            raise SystemExit(f"{recipe} {operator}: {done['text']}")
        return float(sum(stage["cpu_ns"] for stage in done["result"]["stages"])) / 1e9

    def _wait_for(self, event: str) -> dict[str, Any]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message: dict[str, Any] = json.loads(line)
            if message["event"] == event:
                return message
        raise SystemExit("the server ended")


def main() -> None:
    """Prints a line for each recipe."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("recipes", nargs="+")
    options = parser.parse_args()
    os.chdir(Path(__file__).parents[1])
    servers = {"cached": Server(IMPORTS + RUN), "plain": Server(IMPORTS + PLAIN + RUN)}
    for recipe in options.recipes:
        seconds: dict[str, list[float]] = {name: [] for name in servers}
        for server in servers.values():
            server.seconds_of(recipe, OPERATORS[0])
        for _ in range(options.rounds):
            for operator in OPERATORS:
                for name, server in servers.items():
                    seconds[name].append(server.seconds_of(recipe, operator))
        medians = {name: statistics.median(values) for name, values in seconds.items()}
        ratio = medians["plain"] / medians["cached"]
        print(recipe, {name: round(value, 3) for name, value in medians.items()}, round(ratio, 2))


if __name__ == "__main__":
    main()
