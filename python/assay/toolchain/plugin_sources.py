"""Finds the source files of plug-ins without importing them; they are part of the identity.

A plug-in of ``ASSAY_PLUGINS`` is its file and what the file's literal ``sources`` names next to it:
``sources = ["python"]`` stands for every Python file under that folder. An installed plug-in is the
package of its entry point.
"""

import ast
import hashlib
import importlib.metadata
import importlib.util
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from assay.toolchain.files import only_files

GROUP = "assay.plugins"
VARIABLE = "ASSAY_PLUGINS"


def plugin_files() -> list[Path]:
    """The files that ``ASSAY_PLUGINS`` names."""
    return [Path(p) for p in os.environ.get(VARIABLE, "").split(os.pathsep) if p]


def digest_plugins() -> list[str]:
    """Digests of all plug-ins, sorted: of names and contents, never of where they lie."""
    of_files = [_digest(path.parent, _find_sources(path)) for path in plugin_files()]
    entries = importlib.metadata.entry_points(group=GROUP)
    names = sorted({entry.value.partition(":")[0].partition(".")[0] for entry in entries})
    of_packages = [_digest(place.parent, _python_files(place)) for place in _places(names)]
    return sorted([*of_files, *of_packages])


def _digest(root: Path, files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in only_files(set(files)):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{os.path.relpath(path, root)} {content}\n".encode())
    return digest.hexdigest()


def _find_sources(path: Path) -> Iterator[Path]:
    """The file, and what it says belongs to it; none where there is no file."""
    if not path.is_file():
        return
    yield path
    for name in _literal_sources(path):
        yield from _python_files(path.parent / name)


def _python_files(place: Path) -> Iterator[Path]:
    if place.is_dir():
        yield from place.rglob("*.py")
    elif place.is_file():
        yield place


def _literal_sources(path: Path) -> list[str]:
    """The list that a module assigns to `sources`; none of a file that does not parse."""
    try:
        tree = ast.parse(path.read_text())
    except (SyntaxError, UnicodeDecodeError):
        return []
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and _names(statement) == ["sources"]:
            return _literal_list(statement.value)
    return []


def _literal_list(value: ast.expr | None) -> list[str]:
    """The texts of a literal list; loading the plug-in refuses anything else (plugins.py)."""
    try:
        names = ast.literal_eval(value) if value is not None else []
    except ValueError:
        return []
    return [name for name in names if isinstance(name, str)] if is_list(names) else []


def is_list(value: object) -> bool:
    """True if `sources` can be that."""
    return isinstance(value, list | tuple)


def _names(statement: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = [statement.target] if isinstance(statement, ast.AnnAssign) else statement.targets
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _places(packages: Iterable[str]) -> Iterator[Path]:
    """Folder of a package, or file of a module; what is not installed any more has none."""
    for name in packages:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            continue
        origin = Path(spec.origin)
        yield origin.parent if spec.submodule_search_locations else origin
