"""Times of Assay's runner of an engine against a bare loop over the same API, interleaved.

    python compare_engine_loops.py BUILD/bin ENGINE PROGRAM [--pairs 20] [--iterations 100]

ENGINE is one of LOOPS, PROGRAM a float32 program of it. Each pair is a process of either kind on
one thread, in turn first. Prints the median of the processes' medians of both, and the median of
the pairs' ratios with its 95 % interval (order statistics); exits 1 when it is not within 2 %.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

from job_file import samples_of, write_job
from scipy import stats

WARM_UP = 10
MATTERS = 0.02
LOOPS: dict[str, Callable[[Path], list[object]]] = {
    "openvino": lambda bin_folder: [bin_folder / "bare-openvino-loop"],
    "onnxruntime": lambda _: [sys.executable, Path(__file__).parent / "bare_onnxruntime_loop.py"],
}
"""The command of an engine's bare loop; it takes PROGRAM and the count of inferences, and prints
what each took in nanoseconds, a line each."""


def bare_median_ns(bin_folder: Path, engine: str, program: Path, iterations: int) -> float:
    """Median of a process of the bare loop, without its first inferences."""
    command = [str(part) for part in (*LOOPS[engine](bin_folder), program, WARM_UP + iterations)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return median([int(line) for line in done.stdout.split()][WARM_UP:])


def runner_median_ns(bin_folder: Path, engine: str, program: Path, iterations: int) -> float:
    """Median execute time of a runner's steady iterations."""
    plan = {
        "warmup_iterations": WARM_UP - 1,
        "iterations": iterations,
        "time_budget_ns": 3_600_000_000_000,
    }
    load = {"entry": str(program.resolve()), "options": {"threads": 1}}
    measure = {"inputs": {"is_generated": True}, "plan": plan}
    with tempfile.TemporaryDirectory() as name:
        job, out = Path(name) / "job", Path(name) / "out"
        write_job(job, [("load", load), ("measure", measure)])
        runner = bin_folder / f"assay-runner-{engine}"
        subprocess.run([runner, "--job", job, "--out", out], check=True, capture_output=True)
        _, execute, _ = samples_of(out)
    return median(execute[-iterations:])


def interval_of_median(values: list[float]) -> tuple[float, float]:
    """The order statistics that hold the median with 95 % at least."""
    ordered = sorted(values)
    outside = int(stats.binom.ppf(0.025, len(ordered), 0.5))
    lowest = max(outside - 1, 0)
    return ordered[lowest], ordered[len(ordered) - 1 - lowest]


def main() -> int:
    """Takes the pairs and prints the ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin_folder", type=Path)
    parser.add_argument("engine", choices=sorted(LOOPS))
    parser.add_argument("program", type=Path)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--iterations", type=int, default=100)
    args = parser.parse_args()
    takers = {"bare": bare_median_ns, "runner": runner_median_ns}
    medians: dict[str, list[float]] = {name: [] for name in takers}
    for pair in range(args.pairs):
        for name in sorted(takers, reverse=pair % 2 == 1):
            taken = takers[name](args.bin_folder, args.engine, args.program, args.iterations)
            medians[name].append(taken)
    for name, values in medians.items():
        print(f"{name:7} {median(values) / 1e6:9.3f} ms")
    pairs = zip(medians["runner"], medians["bare"], strict=True)
    ratios = [runner / bare for runner, bare in pairs]
    low, high = interval_of_median(ratios)
    print(f"ratio   {median(ratios):.4f} [{low:.4f}, {high:.4f}]")
    return 0 if abs(median(ratios) - 1) <= MATTERS else 1


if __name__ == "__main__":
    sys.exit(main())
