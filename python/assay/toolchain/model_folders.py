"""The user's folders of conformance models, as the toolchain's identity knows them.

Imports nothing outside of the standard library, because the identity is asked before every look-up.
"""

import hashlib
import os
from pathlib import Path

FOLDERS = "ASSAY_CONFORM_MODELS"
"""Folders of *.py files, separated like PATH."""


def model_folders() -> list[Path]:
    """The folders in their order."""
    return [Path(folder) for folder in os.environ.get(FOLDERS, "").split(os.pathsep) if folder]


def digest_models() -> list[str]:
    """The digest of each folder's Python files, by name and content, those below it too."""
    return [_digest(folder) for folder in model_folders()]


def _digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(folder)} {content}\n".encode())
    return digest.hexdigest()
