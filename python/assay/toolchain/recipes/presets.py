"""Prints the preset recipes, those of plug-ins included, as one document.

``python -m assay.toolchain.recipes.presets``

The schema is that of data/recipes.json, the part of it that needs no plug-in. Of plug-ins it tells
the models, too, and which of them do not load.
"""

import contextlib
import json
import sys
from typing import Any

from assay.toolchain.models.plugins import load_plugins
from assay.toolchain.recipes.recipes import preset_document


def describe_presets() -> dict[str, Any]:
    """The document; "models": {reference: sentence}, "broken": {plug-in: Python's error}."""
    with contextlib.redirect_stdout(sys.stderr):  # A plug-in may print while it loads.
        document, plugins = preset_document(), load_plugins()
    return {**document, "models": plugins.sentences(), "broken": plugins.broken}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(describe_presets()) + "\n")
