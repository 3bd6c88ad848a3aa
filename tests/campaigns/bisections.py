"""Bisects synthetic repositories with one slow commit, and counts how often it is named.

    python tests/campaigns/bisections.py --runs 5 [--first 1] [--commits 256] [--only slower_2]
        [--out FOLDER]

Each run makes a repository (synthetic_repository/make_repository.py) and bisects all of it with
`assay bisect`. It ends with 1 if a commit was named that changed nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from watched_repository import BIN, GENERATOR, names_operator

Document = dict[str, Any]


def bisect(folder: Path, first: str, last: str) -> Document:
    """Searches between two commits; the incident as stored."""
    env = {**os.environ, "ASSAY_HOME": str(folder / "home"), "XDG_CONFIG_HOME": str(folder)}
    command = [str(BIN / "assay"), "bisect", "toy.json", f"{first}..{last}", "-q"]
    subprocess.run(command, cwd=folder, env=env, check=False, capture_output=True)
    with sqlite3.connect(folder / "home" / "assay.db") as store:
        rows = store.execute("SELECT document FROM incident").fetchall()
    return dict(json.loads(rows[-1][0]))


def try_seed(seed: int, options: argparse.Namespace, out: Path) -> bool | None:
    """Makes and bisects one repository: the right commit was named, a wrong one, or none (None)."""
    folder = out / f"seed{seed}"
    command = [sys.executable, str(GENERATOR), str(folder), "--seed", str(seed), "--force"]
    command += ["--commits", str(options.commits), "--only", options.only]
    subprocess.run(command, check=True, capture_output=True)
    expected = json.loads((folder / "expected.json").read_text())
    commits = [one["commit"] for one in expected["commits"]]
    (there,) = expected["incidents"]
    begin = time.monotonic()
    found = bisect(folder, commits[0], commits[-1])
    seconds = time.monotonic() - begin
    search = found["attribution"].get("search", {})
    is_right = found["culprit"] == there["culprit"] if found["culprit"] else None
    operator = is_right is True and names_operator(found, there["operator"])
    print(
        f"seed {seed}: commit {commits.index(there['culprit'])}, "
        f"{ {True: 'right', False: 'wrong', None: 'none named'}[is_right] }, "
        f"{'with' if operator else 'without'} its operator, {search.get('pairs')} pairs, "
        f"{seconds:.0f} s ({found['state']}: {found['attribution'].get('answer', '')})",
        flush=True,
    )
    return is_right


def main() -> int:
    """Reads the command line; 1 if a wrong commit was named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--commits", type=int, default=256)
    parser.add_argument("--only", choices=("slower_5", "slower_2"), default="slower_2")
    parser.add_argument("--out", help="Folder to keep the repositories and stores in")
    options = parser.parse_args()
    out = Path(options.out or tempfile.mkdtemp(prefix="assay-bisections-"))
    results = [
        try_seed(seed, options, out) for seed in range(options.first, options.first + options.runs)
    ]
    print(
        f"right: {results.count(True)}, wrong: {results.count(False)}, none: {results.count(None)}"
    )
    return 1 if False in results else 0


if __name__ == "__main__":
    sys.exit(main())
