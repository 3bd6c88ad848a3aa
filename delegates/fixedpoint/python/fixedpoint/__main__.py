"""Prints where the runtime lies, for --library: python -m fixedpoint."""

import sys
from pathlib import Path


def main() -> int:
    """Prints the path; exits 1 where the package was installed without its runtime."""
    library = Path(__file__).resolve().parent / "libfixedpoint.so"
    if not library.exists():
        sys.stderr.write(
            f"{library} is not there: this is a source tree (build/release/lib has it), or the "
            "package was built without ExecuTorch\n"
        )
        return 1
    sys.stdout.write(f"{library}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
