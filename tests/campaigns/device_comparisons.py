"""Compares a program with its copy on a board again and again: how often does it seem different?

    python tests/campaigns/device_comparisons.py [--comparisons 80] [--device ssh:board]

The program is MobileNetV3-small on ExecuTorch with XNNPACK, one thread, on the board of
tests/devices/board.py, which is this machine behind ssh; `--device local` does the same here. Each
comparison has the defaults of `assay compare`, canary and confirmation included. It prints the
verdicts and ends with 1 if more were wrong than the error that a comparison may make allows.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "devices"))

from board import Board
from driver import Workplace

MODEL = "torchvision:mobilenet_v3_small"
MOST_WRONG_SHARE = 0.05


def make_pair(place: Workplace) -> tuple[Path, Path]:
    """A program and its copy."""
    made = place.run(
        "bench", MODEL, "--recipe", "executorch/xnnpack-fp32", "--launches", "1", "--quiet"
    )
    assert made.code in (0, 6), made
    program = next((place.home / "cache").rglob("*.pte"))
    pair = place.folder / "a.pte", place.folder / "b.pte"
    for path in pair:
        shutil.copyfile(program, path)
    return pair


def main() -> int:
    """Reads the command line; 1 if too many comparisons were wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--comparisons", type=int, default=80)
    parser.add_argument("--device", choices=("ssh:board", "local"), default="ssh:board")
    options = parser.parse_args()
    verdicts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name, Board(Path(name) / "board") as board:
        place = Workplace(Path(name))
        place.env["ASSAY_SSH"] = f"ssh -F {board.ssh_config}"
        try:
            pair = make_pair(place)
            words = ["--threads", "1", "--measure-identical", "--device", options.device]
            begin = time.monotonic()
            for seed in range(options.comparisons):
                done = place.run(
                    "compare", *pair, *words, "--seed", str(seed), "--quiet", "--format", "json"
                )
                verdicts[json.loads(done.out)["verdict"]] += 1
            seconds = time.monotonic() - begin
        finally:
            place.clean_up()
    print(f"{dict(verdicts)}, {seconds / options.comparisons:.1f} s each")
    wrong = verdicts["slower"] + verdicts["faster"]
    return 1 if wrong > MOST_WRONG_SHARE * options.comparisons else 0


if __name__ == "__main__":
    sys.exit(main())
