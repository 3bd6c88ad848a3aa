"""Runs the fork server: ``python -m assay.toolchain.server``."""

import sys

from assay.toolchain.server.server import main

if __name__ == "__main__":
    sys.exit(main())
