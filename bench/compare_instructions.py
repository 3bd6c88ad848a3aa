"""Instructions an inference through Assay's runner takes, against a bare loop over the runtime.

    python compare_instructions.py BUILD/bin PROGRAM.pte [--few 2] [--many 12]

Counts instructions with valgrind's callgrind, which sees no noise: each program runs a few and many
inferences, and the difference divided by the number of additional ones is what one inference costs.
Load, start and end cancel out. Prints the ratio; the goal is at most 1.001.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from job_file import read_frames, write_job


def count_instructions(command: list[str], folder: Path) -> int:
    """Instructions of all threads of a command, from start to end."""
    profile = folder / "callgrind.out"
    subprocess.run(
        [
            "valgrind",
            "--tool=callgrind",
            f"--callgrind-out-file={profile}",
            "-q",
            *command,
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    match = re.search(r"^(?:summary|totals): (\d+)", profile.read_text(), re.MULTILINE)
    if match is None:
        raise SystemExit(f"no summary in {profile}")
    return int(match[1])


def runner_command(
    bin_folder: Path, program: Path, count: int, folder: Path, runner: str = "executorch"
) -> list[str]:
    """A runner with a job of one first, one warm-up less, and the rest steady inferences."""
    plan = {
        "warmup_iterations": 0,
        "iterations": count - 1,
        "time_budget_ns": 3_600_000_000_000,
    }
    job, out = folder / "job", folder / "out"
    write_job(
        job,
        [
            ("load", {"entry": str(program.resolve()), "options": {"threads": 1}}),
            ("measure", {"inputs": {"is_generated": True}, "plan": plan}),
        ],
    )
    return [str(bin_folder / f"assay-runner-{runner}"), "--job", str(job), "--out", str(out)]


def check_answer(out: Path, count: int) -> None:
    """The runner must have done what was asked, else its count means nothing."""
    done = [body["iterations"] for kind, body, _ in read_frames(out) if kind == "measure"]
    if done != [count - 1]:
        raise SystemExit(f"the runner answered {read_frames(out)}")


def main() -> int:
    """Counts, divides and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin_folder", type=Path)
    parser.add_argument("program", type=Path)
    parser.add_argument("--few", type=int, default=2)
    parser.add_argument("--many", type=int, default=12)
    args = parser.parse_args()
    costs = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        counts: dict[str, list[int]] = {"bare": [], "runner": []}
        for n in (args.few, args.many):
            bare = [str(args.bin_folder / "bare-executorch-loop"), str(args.program), str(n)]
            counts["bare"].append(count_instructions(bare, folder))
            command = runner_command(args.bin_folder, args.program, n, folder)
            counts["runner"].append(count_instructions(command, folder))
            check_answer(folder / "out", n)
        for who, (few, many) in counts.items():
            costs[who] = (many - few) / (args.many - args.few)
            print(f"{who:7} {costs[who]:16,.0f} instructions an inference")
    ratio = costs["runner"] / costs["bare"]
    extra = costs["runner"] - costs["bare"]
    print(f"ratio   {ratio:.6f}  ({extra:+,.0f} instructions an inference)")
    return 0 if ratio <= 1.001 else 1


if __name__ == "__main__":
    sys.exit(main())
