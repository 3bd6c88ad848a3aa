"""Contents of what a program does not compute: parameters, buffers, constants."""

from typing import Any

import numpy as np
import torch
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily
from torch.export import ExportedProgram
from torch.fx import Node

from fixedpoint.match import NotLowered


class Constants:
    """The values of a program's placeholders that are no inputs."""

    def __init__(self, exported: ExportedProgram) -> None:
        signature = exported.graph_signature
        self._names = {
            **signature.inputs_to_parameters,
            **signature.inputs_to_buffers,
            **signature.inputs_to_lifted_tensor_constants,
        }
        self._exported = exported

    def is_constant(self, node: Node) -> bool:
        """Whether a node is a placeholder of a constant."""
        return node.name in self._names

    def get(self, node: object, what: str) -> np.ndarray:
        """The content of a constant.

        Raises:
            NotLowered: it is none.
        """
        if not isinstance(node, Node) or not self.is_constant(node):
            raise NotLowered(f"its {what} is not a constant")
        return _content(self._stored(node))

    def has_content(self, node: Node) -> bool:
        """Whether a constant's elements are known: partitioners are shown tensors without any."""
        return not isinstance(self._stored(node), FakeTensor)

    def _stored(self, node: Node) -> Any:
        name = self._names[node.name]
        stored = self._exported.state_dict.get(name)
        return self._exported.constants[name] if stored is None else stored


def _content(tensor: torch.Tensor) -> np.ndarray:
    """Its elements.

    Partitioners are shown tensors without any: ones stand for real numbers there, zeros for
    integers, which no rule refuses.
    """
    if isinstance(tensor, FakeTensor):
        make = torch.ones if tensor.dtype.is_floating_point else torch.zeros
        with unset_fake_temporarily():
            tensor = make(tuple(tensor.shape), dtype=tensor.dtype)
    made: np.ndarray = tensor.detach().cpu().numpy()
    return made
