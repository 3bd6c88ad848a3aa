"""Checks engines beside a busy neighbor again and again: `honours_threads` must not cry wolf.

    python tests/campaigns/engine_checks.py --times 200 executorch=net.pte onnxruntime=net.onnx

Each argument is an engine with a program that it loads. Some processes that only compute keep every
processor busy. The engine is asked for its threads by `assay engine check`. After that an engine
that lies, the fake one with a thread of its own, is checked as often, and must fail each time.
Ends with 1 after a false failure, or a lie that did not fail.
"""

import argparse
import collections
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ASSAY = Path(os.environ.get("ASSAY_BIN_DIR", ROOT / "build" / "release" / "bin")) / "assay"
CHECK = "honours_threads"
VECTOR = {"dtype": "float32", "shape": [1, 4]}
HONEST = {"inputs": [VECTOR], "outputs": [VECTOR], "execute_ns": 100_000}
LIAR = {**HONEST, "helpers": 2}


@contextlib.contextmanager
def busy_machine(processes: int) -> Iterator[None]:
    """Keeps so many processors busy."""
    spinning = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)
    ]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def check(engine: str, program: Path) -> tuple[str, str]:
    """Verdict and text of the check of threads."""
    command = [ASSAY, "engine", "check", engine, "--program", program]
    command += ["--check", CHECK, "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    document: dict[str, Any] = json.loads(done.stdout or "{}")
    for finding in document.get("findings", []):
        if finding["check"] == CHECK:
            return finding["verdict"], finding["text"]
    return "none", done.stderr.strip()


def repeat(engine: str, program: Path, times: int, until: float) -> collections.Counter[str]:
    """Counts verdicts; prints what is not a pass."""
    verdicts: collections.Counter[str] = collections.Counter()
    while sum(verdicts.values()) < times and time.monotonic() < until:
        verdict, text = check(engine, program)
        verdicts[verdict] += 1
        if verdict != "pass" and verdicts[verdict] <= 3:
            print(f"  {engine}: {verdict}: {text}", flush=True)
    return verdicts


def main() -> int:
    """Reads the command line; 1 if a check was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("engines", nargs="*", metavar="ENGINE=PROGRAM")
    parser.add_argument("--times", type=int, default=200, help="checks of each engine")
    parser.add_argument("--neighbors", type=int, default=os.cpu_count(), help="busy processes")
    parser.add_argument("--minutes", type=float, default=600, help="time limit of each engine")
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as name, busy_machine(options.neighbors):
        programs = {
            word.partition("=")[0]: Path(word.partition("=")[2]) for word in options.engines
        }
        for label, document in (("honest", HONEST), ("liar", LIAR)):
            path = Path(name) / f"{label}.fake.json"
            path.write_text(json.dumps(document), encoding="utf-8")
            programs[f"fake@1 ({label})"] = path
        for engine, program in programs.items():
            until = time.monotonic() + 60 * options.minutes
            verdicts = repeat(engine.partition(" ")[0], program, options.times, until)
            print(f"{engine}: {dict(verdicts)}", flush=True)
            is_liar = "liar" in engine
            wrong += verdicts.total() - verdicts["fail"] if is_liar else verdicts["fail"]
    print(f"wrong: {wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
