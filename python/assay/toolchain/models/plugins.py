"""Plug-ins: Python modules outside the package that add models and recipes.

Found through the entry point group ``assay.plugins`` and the paths in ``ASSAY_PLUGINS`` (separated
like PATH). A module may define ``models: dict[str, Callable]`` and ``recipes: list[dict]``, and say
with a literal ``sources: list[str]`` which files and folders next to it are part of it.
"""

import hashlib
import importlib
import importlib.metadata
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from assay.toolchain.errors import RequestError
from assay.toolchain.plugin_sources import GROUP, VARIABLE, is_list, plugin_files
from assay.toolchain.suggest import unknown_name

__all__ = ["GROUP", "VARIABLE", "Plugins", "import_file", "import_object", "load_plugins"]


@dataclass(frozen=True)
class Plugins:
    """The additions of all plug-ins, and the plug-ins that could not be loaded, with the reason."""

    models: dict[str, Callable[..., Any]] = field(default_factory=dict)
    recipes: tuple[dict[str, Any], ...] = ()
    broken: dict[str, str] = field(default_factory=dict)

    def sentences(self) -> dict[str, str]:
        """Describes each model: its factory's first docstring line, or that a plug-in adds it."""
        return {
            name: (getattr(factory, "__doc__", None) or "from a plug-in").strip().split("\n")[0]
            for name, factory in self.models.items()
        }


@cache
def load_plugins() -> Plugins:
    """Loads every plug-in; a broken one is kept with its reason and hides no other."""
    models: dict[str, Callable[..., Any]] = {}
    recipes: list[dict[str, Any]] = []
    broken: dict[str, str] = {}
    for name, load in _sources():
        try:
            module = load()
            check_sources(getattr(module, "sources", []))
            models.update(getattr(module, "models", {}))
            recipes.extend(getattr(module, "recipes", []))
        except Exception as error:
            broken[name] = f"{type(error).__name__}: {error}"
    return Plugins(models, tuple(recipes), broken)


def check_sources(sources: Any) -> None:
    """Refuses what the identity of the toolchain could not read (plugin_sources.py).

    Raises:
        RequestError: it is no list of texts.
    """
    if not is_list(sources) or not all(isinstance(name, str) for name in sources):
        raise RequestError('"sources" is a literal list of files and folders beside the plug-in')


def _sources() -> list[tuple[str, Callable[[], Any]]]:
    entries = importlib.metadata.entry_points(group=GROUP)
    sources: list[tuple[str, Callable[[], Any]]] = [(entry.name, entry.load) for entry in entries]
    for path in plugin_files():
        sources.append((str(path), lambda path=path: import_file(path)))  # type: ignore[misc]
    return sources


def import_file(path: Path) -> ModuleType:
    """Imports a Python file; one path is one module, whatever its name.

    It can import the files next to it, which come last and so hide no installed module.

    Raises:
        RequestError: there is no such file.
    """
    path = path.resolve()
    if not path.is_file():
        raise RequestError(f"no Python file {path}")
    name = f"assay_user_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise RequestError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def import_object(reference: str) -> Any:
    """The object that "package.module:name" or "FILE.py:name" refers to.

    Raises:
        RequestError: there is no such file, or no such name in it.
    """
    place, _, name = reference.rpartition(":")
    module = import_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
    value = getattr(module, name, None)
    if value is None:
        raise RequestError(unknown_name(f"name in {place}", name, vars(module)))
    return value
