"""Digests of packages whose version does not tell what they hold.

A package of an index is known by its version. One that was built here, from a folder, a wheel or a
repository, keeps its version while its code changes, and an editable one changes at each edit.
"""

import hashlib
import importlib.metadata
import importlib.util
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

_CODE = (".py", ".so", ".pyd", ".dylib")


def digest_rebuilt(packages: Iterable[str]) -> dict[str, str]:
    """Digests by name, of those packages only that were not installed from an index."""
    digests = {}
    for name in packages:
        try:
            package = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        record = package.read_text("RECORD")
        origin = package.read_text("direct_url.json")
        if record is None or _is_editable(origin):
            digests[name] = _digest(_states(name))
        elif origin is not None:
            digests[name] = _digest(_code_lines(record))
    return digests


def _is_editable(origin: str | None) -> bool:
    """Source: PEP 610."""
    try:
        document = json.loads(origin or "{}")
    except ValueError:
        return False
    return bool(document.get("dir_info", {}).get("editable"))


def _code_lines(record: str) -> Iterator[str]:
    """Names, digests and sizes of the package's code; scripts and caches have paths of this host.

    Source: the format of RECORD, PEP 627.
    """
    for line in sorted(record.splitlines()):
        name = line.split(",")[0]
        if name.endswith(_CODE) and not name.startswith(".."):
            yield line


def _states(package: str) -> Iterator[str]:
    """Names, sizes and times of the code files of an editable package: reading all takes long."""
    spec = importlib.util.find_spec(package.replace("-", "_"))
    for folder in [] if spec is None else spec.submodule_search_locations or [str(spec.origin)]:
        for path in sorted(_code_files(Path(folder))):
            status = path.stat()
            yield f"{os.path.relpath(path, folder)} {status.st_size} {status.st_mtime_ns}"


def _code_files(place: Path) -> Iterator[Path]:
    """Through links, too: ExecuTorch's editable package consists of links into its tree."""
    seen: set[str] = set()
    for folder, folders, files in os.walk(place, followlinks=True):
        real = os.path.realpath(folder)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        yield from (Path(folder, name) for name in files if name.endswith(_CODE))
    if place.is_file():
        yield place


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
