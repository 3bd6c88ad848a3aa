"""Contents of what a program does not compute: parameters, buffers, constants."""

from typing import Any

import numpy as np
import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, unset_fake_temporarily
from torch.export import ExportedProgram
from torch.fx import Node

from fixedpoint.match import NotLowered


class Constants:
    """The values of a program's placeholders that are no inputs."""

    def __init__(self, exported: ExportedProgram) -> None:
        signature = exported.graph_signature
        changed = set(signature.buffers_to_mutate.values())
        names = {
            **signature.inputs_to_parameters,
            **signature.inputs_to_buffers,
            **signature.inputs_to_lifted_tensor_constants,
        }
        self._names = {node: name for node, name in names.items() if name not in changed}
        self._exported = exported
        self._real: dict[int, torch.Tensor] | None = None

    def is_constant(self, node: Node) -> bool:
        """True if a node is a placeholder of a constant."""
        return node.name in self._names

    def get(self, node: object, what: str) -> np.ndarray:
        """The content of a constant.

        Raises:
            NotLowered: it is none.
        """
        if not isinstance(node, Node) or not self.is_constant(node):
            raise NotLowered(f"its {what} is not a constant")
        return _content(self._stored(node))

    def has_content(self, node: object) -> bool:
        """True if a constant's elements are known."""
        if not isinstance(node, Node) or not self.is_constant(node):
            return False
        return not isinstance(self._stored(node), FakeTensor)

    def _stored(self, node: Node) -> Any:
        name = self._names[node.name]
        stored = self._exported.state_dict.get(name)
        stored = self._exported.constants[name] if stored is None else stored
        if not isinstance(stored, FakeTensor):
            return stored
        if self._real is None:
            self._real = _real_tensors(stored.fake_mode)
        return self._real.get(id(stored), stored)


def _real_tensors(mode: FakeTensorMode) -> dict[int, torch.Tensor]:
    """Tensors by the identity of the fake ones that stand for them.

    ExecuTorch shows a partitioner the parameters as fake tensors that their mode made of the real
    ones, and modes remember which, for as long as the real one lives.
    """
    converter = mode.fake_tensor_converter.meta_converter
    numbers = {number: real for real, number in converter.describer.lookup_tensor.items()}
    return {
        id(fake): numbers[number]
        for number, fake in converter.tensor_memo.items()
        if number in numbers and not isinstance(numbers[number], FakeTensor)
    }


def _content(tensor: torch.Tensor) -> np.ndarray:
    """Its elements.

    Where they are not known, ones stand for real numbers and zeros for integers, which no rule
    refuses.
    """
    if isinstance(tensor, FakeTensor):
        make = torch.ones if tensor.dtype.is_floating_point else torch.zeros
        with unset_fake_temporarily():
            tensor = make(tuple(tensor.shape), dtype=tensor.dtype)
    made: np.ndarray = tensor.detach().cpu().numpy()
    return made
