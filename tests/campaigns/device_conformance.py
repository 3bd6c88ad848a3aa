"""Compares the conformance of a backend on a 64-bit Arm phone with that on this machine.

    python tests/campaigns/device_conformance.py [--recipe executorch/xnnpack-fp32] [-- --match X]

The phone is that of tests/devices/phone.py: emulated, reached by adb, with the engines of
`make aarch64`. Both sides run the same programs. It prints the verdicts of both sides, each case
whose verdict differs, and how far apart the errors of the others are. It ends with 1 if a verdict
differs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "devices"))

from phone import Phone

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("ASSAY_BIN_DIR", ROOT / "build" / "release" / "bin"))


def conform(folder: Path, environment: dict[str, str], *words: str) -> dict[str, Any]:
    """The JSON report of a conformance run in the folder's home."""
    command = [str(BIN / "assay"), "conform", "--format", "json", "--quiet", *words]
    begin = time.monotonic()
    ended = subprocess.run(
        command, env=environment, capture_output=True, text=True, cwd=folder, check=False
    )
    print(f"{time.monotonic() - begin:.0f} s: assay conform {' '.join(words)}", flush=True)
    if not ended.stdout:
        sys.exit(ended.stderr)
    return json.loads(ended.stdout)


Results = dict[str, dict[str, Any]]


def results_of(report: dict[str, Any]) -> Results:
    """Results by the name of the case."""
    return {result["name"]: result for result in report["results"]}


def changed_verdicts(here: Results, there: Results) -> list[str]:
    """A row for each case whose verdict is another one there."""
    rows = []
    for name, result in here.items():
        other = there.get(name, {"verdict": "missing", "text": ""})
        if other["verdict"] != result["verdict"]:
            rows.append(f"| {name} | {result['verdict']} | {other['verdict']} | {other['text']} |")
    return rows


def describe_errors(here: Results, there: Results) -> str:
    """Counts the cases with exactly the error of this machine, and names those that differ most."""
    pairs = []
    for name, result in here.items():
        ratios = [one.get("error_bound_ratio") for one in (result, there.get(name, {}))]
        if all(ratio and not ratio["special"] for ratio in ratios):
            pairs.append((abs(ratios[0]["value"] - ratios[1]["value"]), name, ratios))
    equal = sum(difference == 0 for difference, _, _ in pairs)
    most = [
        f"\n  {name}: {ratios[0]['value']:.3g} of its bound here, {ratios[1]['value']:.3g} there"
        for _, name, ratios in sorted(pairs, key=lambda pair: -pair[0])[:5]
    ]
    return f"{equal} of {len(pairs)} errors are equal; the largest differences:" + "".join(most)


def main() -> int:
    """Reads the command line; 1 if a verdict differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recipe", default="executorch/xnnpack-fp32")
    parser.add_argument("words", nargs="*", help="Further words for both commands")
    options = parser.parse_args()
    words = ["--recipe", options.recipe, *options.words]
    with tempfile.TemporaryDirectory() as name, Phone(Path(name) / "phone") as phone:
        folder = Path(name)
        environment = {**phone.environment, "ASSAY_HOME": str(folder / "home")}
        here = conform(folder, environment, *words)
        there = conform(folder, environment, *words, "--device", f"adb:{phone.serial}")
    results = {"here": results_of(here), "phone": results_of(there)}
    for side, of_side in results.items():
        print(side, dict(Counter(result["verdict"] for result in of_side.values())))
    rows = changed_verdicts(*results.values())
    print("\n".join(rows) or "no verdict differs")
    print(describe_errors(*results.values()))
    return 1 if rows else 0


if __name__ == "__main__":
    sys.exit(main())
