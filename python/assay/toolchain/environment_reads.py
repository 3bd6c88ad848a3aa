"""Reads of environment variables by code of the user."""

import _collections_abc
import collections
import contextlib
import os
import sys
from collections.abc import Callable
from typing import Any

from assay.toolchain.installed_code import is_users_file
from assay.toolchain.model_folders import FOLDERS

_SHAPING = frozenset({FOLDERS})
"""Variables by which Assay itself finds a model: another value may name another file."""

_ENVIRON_FILES = frozenset({os.__file__, _collections_abc.__file__})


def hear_variables(note: Callable[[str, str | None], object]) -> None:
    """Has `note` called for each variable that code of the user looks up, or that names a model.

    A copy of all of them is not heard of. Bytes (os.environb) come as text.
    """
    kind = type(os.environ)
    look_up, iterate = kind.__getitem__, kind.__iter__
    listed: collections.deque[str] = collections.deque()

    def text_of(environment: Any, name: Any) -> str | None:
        with contextlib.suppress(KeyError):
            return os.fsdecode(look_up(environment, name))
        return None

    def get(environment: Any, name: Any) -> Any:
        if listed and listed[0] == name:  # Who lists them all copies them all.
            listed.popleft()
        elif isinstance(name, str | bytes) and (name in _SHAPING or _is_users(sys._getframe(1))):
            note(os.fsdecode(name), text_of(environment, name))
        return look_up(environment, name)

    def every(environment: Any) -> Any:
        listed.clear()
        for name in iterate(environment):
            listed.append(name)
            yield name

    kind.__getitem__ = get  # type: ignore[method-assign]
    kind.__iter__ = every  # type: ignore[method-assign]


def _is_users(frame: Any) -> bool:
    """True if the look-up in the environment was called by code that is not installed."""
    while frame is not None:
        name = frame.f_code.co_filename
        if name not in _ENVIRON_FILES and not name.startswith("<frozen"):
            return is_users_file(name)
        if frame.f_code.co_name in ("copy", "__iter__"):
            return False
        frame = frame.f_back
    return False
