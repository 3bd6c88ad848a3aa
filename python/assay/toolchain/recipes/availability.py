"""Lists the preset recipes that this toolchain cannot make, each with the reason.

``python -m assay.toolchain.recipes.availability``

Prints one JSON line, {"schema", "missing": {recipe: reason}}. Finds packages without importing
them, so it answers in a fraction of a second.
"""

import json
import sys
from typing import Any

from assay.toolchain.errors import JobError
from assay.toolchain.recipes import recipes

SCHEMA = "assay/available/1"


def describe() -> dict[str, Any]:
    """Makes the document of the recipes that cannot be made here, with the reasons."""
    reasons = {entry["name"]: _why_not(entry) for entry in recipes.preset_document()["recipes"]}
    return {
        "schema": SCHEMA,
        "missing": {name: reason for name, reason in reasons.items() if reason is not None},
    }


def _why_not(entry: dict[str, Any]) -> str | None:
    try:
        return recipes.why_unavailable(recipes.recipe_from_json(entry))
    except JobError as error:
        return error.text


if __name__ == "__main__":
    sys.stdout.write(json.dumps(describe()) + "\n")
