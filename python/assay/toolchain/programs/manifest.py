"""The manifest: what a build made, from what, at what cost."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.toolchain import identity
from assay.toolchain.files import describe_file
from assay.toolchain.flows.executorch.delegation import verdict
from assay.toolchain.recipes.recipes import Recipe
from assay.toolchain.stages import StageLog
from assay.toolchain.types import InputSet, Model

SCHEMA = "assay/manifest/1"
DATA_SUFFIXES = (".ptd", ".bin", ".data", ".io.json")


def make_manifest(
    *,
    model: Model,
    recipe: Recipe,
    calibration: InputSet | None,
    program: dict[str, Any],
    files: Sequence[Path],
    stages: StageLog,
) -> dict[str, Any]:
    """The whole document; `files` is empty when the build stopped after lowering.

    `program`: size and methods, and what was delegated.
    """
    return {
        "schema": SCHEMA,
        "model": model.to_json(),
        "recipe": recipe.document,
        "calibration": None
        if calibration is None
        else calibration_json(calibration) | model.calibration_digest(),
        "toolchain": identity.describe(),
        "entry": files[0].name if files else None,
        "files": [
            describe_file(path, "data" if path.name.endswith(DATA_SUFFIXES) else "program")
            for path in files
        ],
        "stages": stages.to_json(),
        "start_rss_bytes": stages.start_rss_bytes,
        "peak_rss_bytes": stages.peak_rss_bytes(),
        "program": program,
        "delegation": verdict(program["nodes_delegated"], program["nodes_not_delegated"]),
    }


def calibration_json(calibration: InputSet) -> dict[str, Any]:
    """The calibration inputs as a request writes them."""
    if calibration.file is not None:
        return {"file": calibration.file}
    return {
        "generator": calibration.generator,
        "seed": calibration.seed,
        "batches": calibration.count,
    }
