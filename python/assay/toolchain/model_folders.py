"""The user's folders of conformance models, as the toolchain's identity knows them.

Imports nothing outside of the standard library, because the identity is asked before every look-up.
"""

import hashlib
import os
from pathlib import Path

from assay.toolchain.files import only_files

FOLDERS = "ASSAY_CONFORM_MODELS"
"""Folders of *.py files, separated like PATH."""


def model_folders() -> list[Path]:
    """The folders in their order. What is made of a model in them depends on the variable."""
    return _folders_from_text(os.environ.get(FOLDERS, ""))


def digest_models() -> list[str]:
    """The digest of each folder's Python files, by name and content, those below it too.

    No model is looked for: a copy of the environment is no dependency (environment_reads.py).
    """
    return [_digest(folder) for folder in _folders_from_text(os.environ.copy().get(FOLDERS, ""))]


def _folders_from_text(text: str) -> list[Path]:
    return [Path(folder) for folder in text.split(os.pathsep) if folder]


def _digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in only_files(folder.rglob("*.py")):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(folder)} {content}\n".encode())
    return digest.hexdigest()
