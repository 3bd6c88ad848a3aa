"""A small network, and a backend that is wrong for values beyond 4: random inputs have none.

The network is right on what `assay eval` draws, and wrong on a file with a large value.
"""

import torch
from torch import nn

LIMIT = 6.0
WRONG_LIMIT = 4.0


class Net(nn.Module):
    """Layers around one that clamps."""

    def __init__(self) -> None:
        super().__init__()
        self.clamp = nn.Hardtanh(-LIMIT, LIMIT)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.sigmoid(x * 0.5) + x
        x = self.clamp(x)
        return (x * 0.25 + 1).mean(1)


def net():
    return Net().eval(), (torch.zeros(2, 8),)


def clamping_partitioner():
    """XNNPACK's, whose delegates clamp at other limits.

    The process that lowers ends with its job, and the change of the backend with it.
    """
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.backends.xnnpack.xnnpack_preprocess import XnnpackBackend

    preprocess = XnnpackBackend.preprocess

    def clamping(edge_program, compile_specs):
        for node in edge_program.graph_module.graph.nodes:
            if node.args[1:] == (-LIMIT, LIMIT):
                node.args = (node.args[0], -WRONG_LIMIT, WRONG_LIMIT)
        return preprocess(edge_program, compile_specs)

    XnnpackBackend.preprocess = staticmethod(clamping)
    return XnnpackPartitioner()
