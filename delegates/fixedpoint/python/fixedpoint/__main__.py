"""Prints the flags of assay that load this package: assay bench … $(python -m fixedpoint)."""

import sys
from pathlib import Path


def main() -> int:
    """Prints the flags; exits 1 where the package was installed without its runtime."""
    folder = Path(__file__).resolve().parent
    library = folder / "libfixedpoint.so"
    if not library.exists():
        sys.stderr.write(
            f"{library} is not there: only a wheel has it; in a source tree it lies in "
            "build/release/lib\n"
        )
        return 1
    sys.stdout.write(f"--plugin {folder / 'plugin.py'} --library executorch={library}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
