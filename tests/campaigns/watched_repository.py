"""Watches synthetic repositories and counts which of their incidents are found.

    python tests/campaigns/watched_repository.py --seeds 5 [--first 1] [--kind hg] [--out FOLDER]
    python tests/campaigns/watched_repository.py --unchanged 200

Each seed makes a repository whose changes are known (synthetic_repository/make_repository.py),
runs `assay watch --once` on it, and compares the confirmed incidents with those that there are. It
ends with 1 if an incident was confirmed that is none.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("ASSAY_BIN_DIR", ROOT / "build" / "release" / "bin"))
GENERATOR = Path(__file__).parent / "synthetic_repository" / "make_repository.py"

Document = dict[str, Any]

CHANGES = {"slower_5", "slower_2", "back", "forth", "answer", "drift"}


@dataclass
class Tally:
    """Counts over all seeds, by kind of change."""

    there: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    operators: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def kind_of(expected: Document) -> str:
    """Name of an expected incident in the table."""
    if expected["kind"] == "drift":
        return "drift"
    if expected["metric"] == "outputs_max_abs_error":
        return "answer"
    return f"{100 * expected['share']:+.0f} % {expected['state']}"


def watch(folder: Path) -> list[Document]:
    """Watches until nothing is left to do; the incidents."""
    env = {**os.environ, "ASSAY_HOME": str(folder / "home"), "XDG_CONFIG_HOME": str(folder)}
    command = [str(BIN / "assay"), "watch", "toy.json", "--once", "-q"]
    subprocess.run(command, cwd=folder, env=env, check=True)
    with sqlite3.connect(folder / "home" / "assay.db") as store:
        rows = store.execute("SELECT document FROM incident").fetchall()
    return [json.loads(row[0]) for row in rows]


def is_confirmed(incident: Document) -> bool:
    return incident["state"] in ("confirmed", "fixed", "acknowledged")


def match(expected: Document, incidents: list[Document]) -> Document | None:
    """The confirmed incident that an expected one is."""
    for incident in incidents:
        if expected["kind"] == "drift":
            is_it = incident["kind"] == "drift"
        else:
            is_it = incident["culprit"] == expected["culprit"]
        if is_it and is_confirmed(incident):
            return incident
    return None


def names_operator(incident: Document, operator: str) -> bool:
    """True if the operator with the largest part of the change is the one that was changed."""
    worst = max(
        incident["attribution"].get("operators", []),
        key=lambda row: row.get("change_ns") or 0,
        default={"name": ""},
    )
    return str(worst["name"]).startswith(operator)


def has_change(incident: Document, expected: Document) -> bool:
    """True if the incident's commit, or one of its range where it has none, changed a thing."""
    commits = {commit["commit"]: i for i, commit in enumerate(expected["commits"])}
    last = commits[incident["culprit"] or incident["bad"]]
    first = last if incident["culprit"] else commits[incident["good"]] + 1
    kinds = {commit["kind"] for commit in expected["commits"][first : last + 1]}
    return bool(kinds & CHANGES)


def judge(expected: Document, incidents: list[Document], seed: int, tally: Tally) -> None:
    """Counts one repository."""
    matched = []
    for one in expected["incidents"]:
        kind = kind_of(one)
        tally.there[kind] += 1
        incident = match(one, incidents)
        if incident is not None:
            matched.append(incident["id"])
            tally.found[kind] += 1
            tally.operators[kind] += names_operator(incident, one["operator"])
    for incident in incidents:
        is_extra = incident["id"] not in matched and not has_change(incident, expected)
        if is_confirmed(incident) and is_extra:
            tally.wrong.append(f"seed {seed}: {incident['attribution']['title']}")


def try_seed(seed: int, options: argparse.Namespace, tally: Tally) -> float:
    """Makes and watches one repository; seconds."""
    folder = Path(options.out or tempfile.mkdtemp(prefix="assay-watched-")) / f"seed{seed}"
    command = [sys.executable, str(GENERATOR), str(folder), "--seed", str(seed)]
    command += ["--kind", options.kind, "--force"]
    if options.unchanged:
        command += ["--commits", str(options.unchanged), "--unchanged"]
    subprocess.run(command, check=True, capture_output=True)
    begin = time.monotonic()
    incidents = watch(folder)
    seconds = time.monotonic() - begin
    judge(json.loads((folder / "expected.json").read_text()), incidents, seed, tally)
    if not options.out:
        shutil.rmtree(folder.parent)
    return seconds


def main() -> int:
    """Reads the command line; 1 if something was confirmed that is not there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--kind", choices=("git", "hg"), default="git")
    parser.add_argument("--unchanged", type=int, default=0, metavar="COMMITS")
    parser.add_argument("--out", help="Folder to keep the repositories and stores in")
    options = parser.parse_args()
    tally = Tally()
    for seed in range(options.first, options.first + options.seeds):
        seconds = try_seed(seed, options, tally)
        print(f"seed {seed}: {seconds:.0f} s, found {dict(tally.found)}", flush=True)
    print(f"\n{'incident':24} {'there':>6} {'found':>6} {'operator':>9}")
    for kind, count in sorted(tally.there.items()):
        print(f"{kind:24} {count:6} {tally.found[kind]:6} {tally.operators[kind]:9}")
    print(f"confirmed, and not there: {len(tally.wrong)}")
    print("\n".join(tally.wrong))
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
