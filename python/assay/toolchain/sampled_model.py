"""Models that bring along what a plain module does not have: inputs, bounds of error, parts.

A factory may return a `Brought` instead of a module. The input set {"generator": "own"} then has
the model's own samples, a float64 reference has bounds, and a program of several parts is described
part by part.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from assay.toolchain.tensors import Sample

OWN = "own"
"""The generator of input sets that takes the samples that a model brings."""

CALIBRATION_SEED = 1000
"""The seed of own samples that calibrate where a request says nothing else."""

TAKEN = 2
"""Samples that come before those that a program has to refuse."""


@dataclass(frozen=True)
class Bound:
    """How far one output of a correct implementation may be from the float64 reference.

    `expected` is the reference with what overflows the output's type as infinity; `limit` is
    float64, of the same shape: 0 exact, inf anything. `rule` says where it comes from.
    """

    expected: "torch.Tensor"
    limit: "torch.Tensor"
    rule: dict[str, Any]


@dataclass(frozen=True)
class Span:
    """Which inputs and outputs of a program belong to one part: [begin, end)."""

    inputs: tuple[int, int]
    outputs: tuple[int, int]

    def to_json(self) -> dict[str, Any]:
        """As manifests and references write it."""
        return {"inputs": list(self.inputs), "outputs": list(self.outputs)}


@dataclass(frozen=True)
class OpenDimension:
    """A size that a program leaves open between two bounds, by name: the same in all its places."""

    name: str
    least: int
    most: int


Bounding = Callable[["Sample", "Sequence[torch.Tensor]", "Sequence[torch.Tensor]"], "list[Bound]"]
"""Takes a sample, what the module answers to it, and what its float64 form does."""


@dataclass(frozen=True)
class Brought:
    """A module with inputs of its own.

    `draw(seed, index)` makes sample number `index`; samples of two seeds share no values.
    `double` computes the same in float64; `bound` gives a Bound for each output. `parts` are empty
    for a model that is whole. `dynamic`: for each input the dimensions that the program leaves
    open; samples then differ in shape. `refused` makes samples that the program has to refuse,
    which an evaluation has from the third on.
    """

    module: "torch.nn.Module"
    draw: "Callable[[int, int], Sample]"
    double: "torch.nn.Module | None" = None
    bound: "Bounding | None" = None
    parts: tuple[Span, ...] = field(default=())
    dynamic: tuple[dict[int, OpenDimension], ...] = ()
    refused: "Callable[[int, int], Sample] | None" = None

    def samples(self, seed: int, count: int) -> "list[Sample]":
        """The samples of an evaluation."""
        if self.refused is None:
            return [self.draw(seed, index) for index in range(count)]
        return [
            (self.draw if index < TAKEN else self.refused)(seed, index) for index in range(count)
        ]
