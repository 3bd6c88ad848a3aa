"""Imports in the fork server what a job had to import, so that later jobs start with it."""

import contextlib
import gc
import importlib
import os
import sys
import sysconfig
from collections.abc import Iterable
from types import ModuleType

from assay.toolchain.installed_code import find_distributions
from assay.toolchain.server import torch_caching

_preimported: list[str] = []
_INSTALLED = tuple({sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")})


def imported_since(before: frozenset[str]) -> list[str]:
    """Modules of installed packages that came after `before`, in the order in which they came.

    `before`: names, as in sys.modules. Plug-ins are left out: theirs may be other files next time.
    """
    return [
        name
        for name, module in list(sys.modules.items())
        if name not in before and _is_installed(module)
    ]


def preimported() -> list[str]:
    """Modules that this server imported since its start, because a job had to."""
    return list(_preimported)


def preimport(names: Iterable[str]) -> None:
    """Imports what is not there yet. What fails to be is left to the child that needs it."""
    missing = [name for name in names if name not in sys.modules]
    for name in missing:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    if missing:
        _preimported.extend(missing)
        find_distributions()  # For the children, which inherit the answer.
        torch_caching.prepare_imported(missing)
        gc.collect()
        gc.freeze()


def _is_installed(module: ModuleType) -> bool:
    origin = getattr(getattr(module, "__spec__", None), "origin", None)
    return isinstance(origin, str) and origin.startswith(
        tuple(folder + os.sep for folder in _INSTALLED)
    )
