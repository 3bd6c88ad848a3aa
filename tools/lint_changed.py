#!/usr/bin/env -S .venv/bin/python
"""Runs clang-tidy, two files at a time, on sources that changed since it last passed on them.

A file's fingerprint covers its text, the project's headers and .clang-tidy, so a header change
lints all that could depend on it. The compile commands are those of the preset lint, where each
source is compiled alone. Fingerprints lie in build/lint/passed; a fresh checkout lints everything.
Usage: lint_changed.py FILE...
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BUILD = Path("build/lint")
STAMPS = BUILD / "passed"


def digest_shared() -> bytes:
    """Digest of what every file's verdict depends on."""
    shared = hashlib.sha256(Path(".clang-tidy").read_bytes())
    for header in sorted(Path("src").rglob("*.h")):
        shared.update(header.read_bytes())
    return shared.digest()


def lint(file: str) -> tuple[str, str]:
    """File and clang-tidy's complaint, empty if none."""
    tidy = Path(sys.executable).with_name("clang-tidy")
    result = subprocess.run(
        [str(tidy), "--quiet", "-p", str(BUILD), file], capture_output=True, text=True, check=False
    )
    return file, "" if result.returncode == 0 else result.stdout + result.stderr


def main() -> int:
    """Lints what changed; returns the exit code."""
    STAMPS.mkdir(parents=True, exist_ok=True)
    shared = digest_shared()
    stamps = {
        file: STAMPS / hashlib.sha256(shared + file.encode() + Path(file).read_bytes()).hexdigest()
        for file in sys.argv[1:]
    }
    todo = [file for file, stamp in stamps.items() if not stamp.exists()]
    failed = 0
    with ThreadPoolExecutor(max_workers=2) as pool:
        for file, complaint in pool.map(lint, todo):
            if complaint:
                failed += 1
                print(complaint)
            else:
                stamps[file].touch()
    print(f"clang-tidy: {len(todo)} of {len(stamps)} files linted, {failed} with faults")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
