"""Code that is installed: the interpreter, its packages and Assay, as opposed to the user's."""

import contextlib
import functools
import importlib.metadata
import os
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_PREFIXES = (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix)
_OF_PREFIX = ("lib", "lib64", "bin", "include")
_INSTALLED = ("stdlib", "platstdlib", "purelib", "platlib")
_PACKAGE = Path(__file__).resolve().parents[1]


def is_below(path: str, folders: Iterable[str]) -> bool:
    """True if the path is one of the folders, or in one."""
    return any(path == folder or path.startswith(folder + os.sep) for folder in folders)


@functools.cache
def installed_folders() -> tuple[str, ...]:
    """Folders of the interpreter, its packages and Assay."""
    paths = [sysconfig.get_path(name) for name in _INSTALLED]
    prefixes = [str(Path(prefix, name)) for prefix in _PREFIXES for name in _OF_PREFIX]
    return tuple({*paths, *prefixes, str(_PACKAGE)})


def is_users_file(name: str) -> bool:
    """True if the file of a code object is not installed."""
    return name.startswith(os.sep) and not is_below(name, installed_folders())


def has_users(frame: Any) -> bool:
    """True if code that is not installed is among the callers."""
    while frame is not None:
        if is_users_file(frame.f_code.co_filename):
            return True
        frame = frame.f_back
    return False


@functools.cache
def find_distributions() -> dict[str, list[str]]:
    """The lists of files of installed packages, by the modules that they bring; takes 0.1 s."""
    lists: dict[str, list[str]] = {}
    for module, names in importlib.metadata.packages_distributions().items():
        for name in set(names):
            with contextlib.suppress(importlib.metadata.PackageNotFoundError):
                place = getattr(importlib.metadata.distribution(name), "_path", None)
                record = Path(str(place)) / "RECORD"
                if record.is_file():
                    lists.setdefault(module, []).append(str(record))
    return lists


def find_records(modules: Iterable[str]) -> list[str]:
    """The lists of files of the packages that these modules are part of."""
    wanted = {name.partition(".")[0] for name in modules}
    if not wanted:
        return []
    known = find_distributions()
    return sorted({record for name in wanted for record in known.get(name, [])})
