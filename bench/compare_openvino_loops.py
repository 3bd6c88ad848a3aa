"""Times of Assay's OpenVINO runner against a bare loop over the same API, interleaved.

    python compare_openvino_loops.py BUILD/bin PROGRAM.xml [--pairs 10] [--iterations 60]

Each pair is a process of either kind, in turn first. Prints the median of the processes' medians of
both, and their ratio; the goal is within 2 %.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from job_file import samples_of, write_job

WARM_UP = 10


def bare_median_ns(bin_folder: Path, program: Path, iterations: int) -> float:
    """Median of a process of the bare loop, without its first inferences."""
    command = [bin_folder / "bare-openvino-loop", program, str(WARM_UP + iterations)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return median([int(line) for line in done.stdout.split()][WARM_UP:])


def runner_median_ns(bin_folder: Path, program: Path, iterations: int) -> float:
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
        runner = bin_folder / "assay-runner-openvino"
        subprocess.run([runner, "--job", job, "--out", out], check=True, capture_output=True)
        _, execute, _ = samples_of(out)
    return median(execute[-iterations:])


def main() -> int:
    """Takes the pairs and prints the ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin_folder", type=Path)
    parser.add_argument("program", type=Path)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--iterations", type=int, default=60)
    args = parser.parse_args()
    takers = {"bare": bare_median_ns, "runner": runner_median_ns}
    medians: dict[str, list[float]] = {name: [] for name in takers}
    for pair in range(args.pairs):
        for name in sorted(takers, reverse=pair % 2 == 1):
            medians[name].append(takers[name](args.bin_folder, args.program, args.iterations))
    for name, values in medians.items():
        print(f"{name:7} {median(values) / 1e6:9.3f} ms")
    ratio = median(medians["runner"]) / median(medians["bare"])
    print(f"ratio   {ratio:.4f}")
    return 0 if abs(ratio - 1) <= 0.02 else 1


if __name__ == "__main__":
    sys.exit(main())
