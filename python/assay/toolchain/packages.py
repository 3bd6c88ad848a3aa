"""Packages that only some recipes need."""

import importlib
import importlib.util
from collections.abc import Iterable
from typing import Any

from assay.toolchain.errors import MissingDependency


def import_package(name: str, *, wanted_by: str, way: str | None = None) -> Any:
    """The module `name`. `way`: how to get it, where that is not to install it here.

    Raises:
        MissingDependency: it is not installed, or does not import.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.split(".")[0]
        raise MissingDependency(
            f"{wanted_by} needs {package}: {error}; {way or way_to_get(package)}"
        ) from error


def why_missing(packages: Iterable[str]) -> str | None:
    """Says of the first of `packages` that is not there how to get it; imports nothing."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            return f"the toolchain lacks {package}: {way_to_get(package)}"
    return None


def way_to_get(package: str) -> str:
    """The command that installs it; without dependencies, which would bring another torch."""
    return f"pip install --no-deps {package}, with what requirements/toolchain.txt lists for it"
