"""Digests, JSON and tensors as files."""

import hashlib
import json
import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_ESCAPE = re.compile(r"\\(?:ud[89ab]..\\ud[c-f]..|(ud[89a-f]..)|.)")
"""Escapes of JSON: a pair of surrogates, a single one (the group), or another escape."""


def sha256_of_file(path: Path) -> str:
    """Hexadecimal SHA-256 of the file's bytes."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def only_files(paths: Iterable[Path]) -> list[Path]:
    """Those that are files, in order: a folder may be called x.py, and a link lead to nothing."""
    return sorted(path for path in paths if path.is_file())


def describe_file(path: Path, role: str) -> dict[str, Any]:
    """The manifest's entry for a file: {name, role, bytes, sha256}."""
    size = path.stat().st_size
    return {"name": path.name, "role": role, "bytes": size, "sha256": sha256_of_file(path)}


def number(value: float) -> float | None:
    """`value` as JSON can say it: None in place of NaN and the infinities."""
    return float(value) if math.isfinite(value) else None


def json_text(document: Any, *, indent: int | None = None) -> str:
    """The document as JSON that every reader takes, with a newline at the end.

    A byte of a file's name that is no UTF-8 is a lone surrogate in Python, which others refuse: it
    is written as the text of its escape.
    """
    text = json.dumps(document, indent=indent, allow_nan=False)
    return _ESCAPE.sub(lambda it: rf"\\{it[1]}" if it[1] else it[0], text) + "\n"


def write_json(path: Path, document: dict[str, Any]) -> None:
    """Writes the document, readable, with a newline at the end."""
    path.write_text(json_text(document, indent=1))
