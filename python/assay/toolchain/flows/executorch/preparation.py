"""Work that a backend wants done to an exported program before its partitioner sees it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Prepared:
    """The program to lower, and passes over its edge program (None: none)."""

    exported: "torch.export.ExportedProgram"
    edge_passes: Any = None


Prepare = Callable[["torch.export.ExportedProgram", Any], AbstractContextManager[Prepared]]
"""Prepares a program for a partitioner; the backend is there for as long as the context lasts."""
