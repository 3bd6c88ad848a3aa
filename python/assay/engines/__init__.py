"""Engines that are written in Python: what one implements, and those that come with Assay.

    class MyEngine(Engine):
        def describe(self) -> Description: ...
        def load(self, request: LoadRequest) -> Session: ...

`python -m assay.engines FILE.py:MyEngine` is its runner: the loop around it, the clock and the
conversation with the host are those of engines in C++. docs/guide/add-an-engine.md has more.
"""

from assay._errors import AssayError
from assay.engines.base import (
    INPUT_SHAPES,
    THREADS,
    Description,
    Engine,
    LoadReport,
    LoadRequest,
    Option,
    Session,
    TensorSpec,
)

__all__ = [
    "INPUT_SHAPES",
    "THREADS",
    "AssayError",
    "Description",
    "Engine",
    "LoadReport",
    "LoadRequest",
    "Option",
    "Session",
    "TensorSpec",
]
