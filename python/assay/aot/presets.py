"""The preset recipes with those of plug-ins: ``python -m assay.aot.presets`` prints one document.

The schema is that of data/recipes.json, the part of it that needs no plug-in.
"""

import json
import sys

from assay.aot.recipes import preset_document

if __name__ == "__main__":
    sys.stdout.write(json.dumps(preset_document()) + "\n")
