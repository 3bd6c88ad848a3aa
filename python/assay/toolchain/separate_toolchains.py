"""Toolchains of their own: for flows whose packages do not go together with those of the others.

data/toolchains.json says which; C++ reads it too, and finds their interpreters.
"""

import json
from functools import cache
from importlib import resources


@cache
def _ways_to_get() -> dict[str, str]:
    text = resources.files("assay").joinpath("data/toolchains.json").read_text()
    own = json.loads(text)["toolchains"]
    return {flow: entry["how_to_get"] for entry in own for flow in entry["flows"]}


def find_separate_toolchain(flow: str) -> str | None:
    """Says how to get the toolchain of this flow; None: it needs none of its own."""
    return _ways_to_get().get(flow)
