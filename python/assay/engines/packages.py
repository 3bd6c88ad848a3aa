"""Facts about an engine's Python package that need no import of it."""

import hashlib
import importlib.metadata
import importlib.util
import sys
from types import ModuleType

from assay._errors import AssayError


def describe_package(name: str) -> tuple[str, str]:
    """(version, build id) of an installed distribution; the id digests the list of its files.

    Raises:
        AssayError: unavailable, with the way to get it.
    """
    try:
        distribution = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        raise AssayError(
            f"{name} is not installed for {sys.executable}: {sys.executable} -m pip install {name}",
            code="unavailable",
        ) from None
    record = distribution.read_text("RECORD") or distribution.version
    return distribution.version, hashlib.sha256(record.encode()).hexdigest()


def import_package(module: str, distribution: str) -> ModuleType:
    """The module.

    Raises:
        AssayError: unavailable, when it is missing or does not import.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise AssayError(
            f"{distribution} does not import: {error}; install it again: "
            f"{sys.executable} -m pip install {distribution}",
            code="unavailable",
        ) from error
