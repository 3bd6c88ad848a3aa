"""Compares what programs print with tests/golden, and accepts it on request.

    python tools/approve.py                   shows what differs, and writes it
    python tools/approve.py --check           shows what differs, and exits 1 if anything does
    python tools/approve.py --check report/   only the goldens whose name begins so

tests/golden/goldens.json says which program prints which file: {"report/sample.md":
["assay_report_sample", "md"]}; programs are looked for in --bin.
"""

import argparse
import difflib
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden"


def printed_by(command: list[str], bin_folder: Path) -> bytes:
    """Returns what the command writes to stdout; its exit status is no matter, its absence is.

    Raises:
        SystemExit: the program was not built, or it died.
    """
    program = bin_folder / command[0]
    if not program.exists():
        raise SystemExit(f"{program} is missing: build it, or say where it is with --bin")
    result = subprocess.run([program, *command[1:]], capture_output=True, check=False)
    if result.returncode < 0:
        raise SystemExit(f"{' '.join(command)} was ended by signal {-result.returncode}")
    return result.stdout


def difference(name: str, golden: bytes, printed: bytes) -> str:
    """A unified diff of at most 60 lines of at most 200 columns."""
    before, after = (text.decode(errors="replace").splitlines() for text in (golden, printed))
    lines = list(difflib.unified_diff(before, after, f"golden/{name}", "printed", lineterm="", n=1))
    more = [f"… {len(lines) - 60} more lines"] if len(lines) > 60 else []
    return "\n".join([line[:200] for line in lines[:60]] + more) + "\n"


def main() -> int:
    """Goes through the goldens that were asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("prefix", nargs="?", default="", help="only names that begin so")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 on differences")
    parser.add_argument("--bin", type=Path, default=ROOT / "build" / "release" / "bin")
    options = parser.parse_args()
    goldens = json.loads((GOLDEN / "goldens.json").read_text(encoding="utf-8"))
    chosen = {name: command for name, command in goldens.items() if name.startswith(options.prefix)}
    if not chosen:
        raise SystemExit(
            f"no golden begins with '{options.prefix}'; there are: {', '.join(goldens)}"
        )
    changed = []
    for name, command in chosen.items():
        path = GOLDEN / name
        printed = printed_by(command, options.bin)
        golden = path.read_bytes() if path.exists() else b""
        if printed == golden and path.exists():
            continue
        changed.append(name)
        sys.stdout.write(difference(name, golden, printed))
        if not options.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(printed)
    verb = "differ" if options.check else "approved"
    sys.stdout.write(f"{len(changed)} of {len(chosen)} {verb}\n")
    if changed and options.check:
        sys.stdout.write("If that is right: python tools/approve.py\n")
    return 1 if changed and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
