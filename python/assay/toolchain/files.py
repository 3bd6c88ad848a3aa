"""Digests, JSON and tensors as files."""

import hashlib
import json
import math
from pathlib import Path
from typing import Any


def sha256_of_file(path: Path) -> str:
    """Hexadecimal SHA-256 of the file's bytes."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def describe_file(path: Path, role: str) -> dict[str, Any]:
    """The manifest's entry for a file: {name, role, bytes, sha256}."""
    size = path.stat().st_size
    return {"name": path.name, "role": role, "bytes": size, "sha256": sha256_of_file(path)}


def number(value: float) -> float | None:
    """`value` as JSON can say it: None in place of NaN and the infinities."""
    return float(value) if math.isfinite(value) else None


def write_json(path: Path, document: dict[str, Any]) -> None:
    """Writes the document, readable, with a newline at the end."""
    path.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n")
