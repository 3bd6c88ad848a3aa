"""The plug-in as a file: `--plugin delegates/fixedpoint/assay_plugin.py`, nothing to install."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "python"))

from fixedpoint.plugin import recipes

sources = ["python"]

__all__ = ["recipes", "sources"]
