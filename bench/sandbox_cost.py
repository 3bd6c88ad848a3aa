"""Measures what the sandbox costs a launch, and whether it changes a time; interleaved pairs.

    python sandbox_cost.py BUILD/bin [--pairs 200] [--engine fake PROGRAM]

One agent starts each launch of a pair, one in the sandbox and one outside of it, in turn first. A
launch is what a campaign does: hello, load, measure, unload. Prints medians of the wall time of
both, from the request to the answer, the median of the pairs' differences with its 95 % interval
(order statistics), and the same of the ratio of the median execute times that the runner took.
Exits 1 when a launch costs 5 ms more, or its times differ by more than 2 %.
"""

from __future__ import annotations

import argparse
import json
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from compare_engine_loops import interval_of_median
from job_file import HEAD_BYTES, frame, frames_in

MOST_COST_MS = 5.0
MOST_RATIO = 0.02
PROGRAM = {
    "inputs": [{"name": "x", "dtype": "float32", "shape": [1, 4]}],
    "outputs": [{"name": "y", "dtype": "float32", "shape": [1, 4]}],
    **{"multiply_adds": 100_000, "stream_bytes": 1 << 20},
}
"""A program of the fake engine that uses the processor and its memory."""


class Agent:
    """assay-agent over its pipes."""

    def __init__(self, bin_folder: Path) -> None:
        self._process = subprocess.Popen(
            [bin_folder / "assay-agent"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._requests = 0
        self.ask("hello", {"program": "sandbox_cost.py", "protocol_min": 1, "protocol_max": 1})

    def ask(self, kind: str, body: Any, blob: bytes = b"") -> tuple[Any, bytes]:
        """Sends a request; its answer's body and blob."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests += 1
        self._process.stdin.write(frame(kind, self._requests, body, blob))
        self._process.stdin.flush()
        head = self._process.stdout.read(HEAD_BYTES)
        json_bytes, blob_bytes = struct.unpack_from("<IQ", head, 12)
        rest = self._process.stdout.read(json_bytes + blob_bytes)
        ((told, answer, data),) = frames_in(head + rest)
        if told == "error":
            sys.exit(f"the agent refuses: {answer}")
        return answer, data

    def close(self) -> None:
        """Ends it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


class Launches:
    """Launches of one program by its engine's runner."""

    def __init__(self, agent: Agent, bin_folder: Path, engine: str, program: Path) -> None:
        self._agent = agent
        self._runner = str((bin_folder / f"assay-runner-{engine}").resolve())
        plan = {"warmup_iterations": 2, "iterations": 50, "time_budget_ns": 60_000_000_000}
        requests = [
            ("hello", {"program": "sandbox_cost.py", "protocol_min": 1, "protocol_max": 1}),
            ("load", {"entry": str(program.resolve())}),
            ("measure", {"inputs": {"is_generated": True}, "plan": plan}),
            ("unload", {}),
            ("bye", {}),
        ]
        self._job = b"".join(frame(kind, i + 1, body) for i, (kind, body) in enumerate(requests))
        folders = [self._runner, str(Path(self._runner).parent), str(program.resolve().parent)]
        self._readable = [*folders, *self._description().get("reads", [])]

    def _description(self) -> Any:
        described = subprocess.run([self._runner, "--describe"], check=True, capture_output=True)
        return json.loads(described.stdout)

    def take(self, mode: str) -> tuple[float, float]:
        """Wall time of a launch in ms, and the median of its execute times in ns."""
        sandbox = {"mode": mode, "readable": [] if mode == "off" else self._readable}
        request = {"argv": [self._runner], "sandbox": sandbox}
        start = time.perf_counter()
        answer, output = self._agent.ask("spawn", request, self._job)
        wall_ms = (time.perf_counter() - start) * 1e3
        if answer["end"]["exit_code"] != 0:
            sys.exit(f"a launch failed: {answer['end']}")
        blob = next(blob for kind, _, blob in frames_in(output) if kind == "measure")
        samples = struct.unpack(f"<{len(blob) // 8}q", blob)
        rows = len(samples) // 3
        return wall_ms, median(samples[rows : 2 * rows])


def take_pairs(launches: Launches, pairs: int) -> dict[str, list[tuple[float, float]]]:
    """Launches outside and inside, in turn first."""
    taken: dict[str, list[tuple[float, float]]] = {"off": [], "required": []}
    for mode in taken:
        launches.take(mode)  # Warm-up: files into the page cache, abilities of the kernel tried.
    for pair in range(pairs):
        for mode in sorted(taken, reverse=pair % 2 == 1):
            taken[mode].append(launches.take(mode))
    return taken


def main() -> int:
    """Takes the pairs and prints what the sandbox costs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin_folder", type=Path)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--engine", nargs=2, metavar=("ENGINE", "PROGRAM"))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "net.fake.json"
        program.write_text(json.dumps(PROGRAM))
        engine, path = args.engine or ("fake", program)
        agent = Agent(args.bin_folder)
        taken = take_pairs(Launches(agent, args.bin_folder, engine, Path(path)), args.pairs)
        agent.close()
    outside, inside = taken["off"], taken["required"]
    pairs = list(zip(outside, inside, strict=True))
    costs = [after[0] - before[0] for before, after in pairs]
    ratios = [after[1] / before[1] for before, after in pairs]
    low, high = interval_of_median(costs)
    print(f"launch outside {median(w for w, _ in outside):.2f} ms", end=", ")
    print(f"inside {median(w for w, _ in inside):.2f} ms", end=", ")
    print(f"cost {median(costs):.2f} ms [{low:.2f}, {high:.2f}], {args.pairs} pairs")
    low, high = interval_of_median(ratios)
    print(f"execute outside {median(e for _, e in outside) / 1e3:.2f} us", end=", ")
    print(f"inside {median(e for _, e in inside) / 1e3:.2f} us", end=", ")
    print(f"ratio {median(ratios):.4f} [{low:.4f}, {high:.4f}]")
    return int(median(costs) > MOST_COST_MS or abs(median(ratios) - 1) > MOST_RATIO)


if __name__ == "__main__":
    sys.exit(main())
