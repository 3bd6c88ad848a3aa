"""Answers to typing errors."""

import difflib
from collections.abc import Collection, Mapping
from typing import Any

from assay.toolchain.errors import RequestError

MAX_LISTED = 12


def unknown_name(kind: str, name: str, known: Collection[str]) -> str:
    """Says that `name` is no `kind`, with the nearest known names or a list of them."""
    near = difflib.get_close_matches(name, list(known), n=3, cutoff=0.6)
    if near:
        return f"unknown {kind} '{name}'; did you mean {' or '.join(near)}?"
    listed = sorted(known)
    more = f" and {len(listed) - MAX_LISTED} more" if len(listed) > MAX_LISTED else ""
    return f"unknown {kind} '{name}'; known: {', '.join(listed[:MAX_LISTED]) or 'none'}{more}"


def check_keys(kind: str, given: Mapping[str, Any], known: Collection[str]) -> None:
    """Refuses keys that nothing reads.

    Raises:
        RequestError: a key of `given` is not in `known`.
    """
    for key in given:
        if key not in known:
            raise RequestError(unknown_name(kind, key, known))
