"""The state of a graph: the buffers that its operators write to, as a counter or a cache is.

In an exported graph such a write is an operator like any other (aten.add_ of a buffer, or
aten.copy_ to it), perhaps through a view.
"""

from collections.abc import Mapping

import torch

from assay.toolchain.graph.written_values import written_values


def written_attributes(graph: torch.fx.GraphModule) -> set[str]:
    """Names of the parameters and buffers that operators write to, through views too."""
    written = written_values(graph.graph)
    return {str(node.target) for node in written if node.op == "get_attr"}


def copy_state(graph: torch.fx.GraphModule) -> dict[str, torch.Tensor]:
    """Copies of the buffers that operators write to, by name."""
    written = written_attributes(graph)
    buffers = graph.named_buffers(remove_duplicate=False)
    return {name: buffer.detach().clone() for name, buffer in buffers if name in written}


def restore_state(module: torch.nn.Module, state: Mapping[str, torch.Tensor]) -> None:
    """Gives the buffers of these names these contents, where the module has such."""
    with torch.no_grad():
        for name, buffer in module.named_buffers(remove_duplicate=False):
            content = state.get(name)
            if content is not None and content.shape == buffer.shape:
                buffer.copy_(content)
