"""The rows of the tables of conformance models."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from assay.toolchain.tensors import Sample
from assay.toolchain.types import InputSpec

Factory = Callable[[], tuple[torch.nn.Module, Sample]]


@dataclass(frozen=True)
class Entry:
    """A model of the suite. `cost`: how much longer than a small operator it takes.

    `inputs` None: those of the example, integers from the range that stands in it.
    """

    name: str
    make: Factory
    tier: str = "quick"
    cost: float = 5.0
    needs_weight_init: bool = False
    inputs: tuple[InputSpec, ...] | None = None
