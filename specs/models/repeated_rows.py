"""torchvision's classifiers with sixteen rows of weights a layer, repeated.

Their programs take as long as those with other weights and compress to a twentieth, so that many of
them can be carried to a machine that has no toolchain.
"""

import torch
import torchvision
from torch import nn

ROWS = 16
SHAPE = (3, 224, 224)


def repeat_rows(layer: nn.Conv2d | nn.Linear, generator: torch.Generator) -> None:
    """Uniform weights, which keep the variance from ReLU to ReLU."""
    size = layer.weight[0].numel()
    rows = torch.rand((ROWS, size), generator=generator) * 2 - 1
    index = torch.arange(layer.weight.shape[0]) % ROWS
    with torch.no_grad():
        layer.weight.copy_((rows * (6 / size) ** 0.5)[index].reshape(layer.weight.shape))
        if layer.bias is not None:
            layer.bias.copy_(0.02 * (index - ROWS // 2))


def make(
    name: str = "resnet18", *, settled: bool = False
) -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """The network and an image; `settled`: batch norms know the statistics of four images."""
    generator = torch.Generator().manual_seed(0)
    network = getattr(torchvision.models, name)(weights=None)
    for module in network.modules():
        if isinstance(module, nn.Conv2d | nn.Linear):
            repeat_rows(module, generator)
    if settled:
        settle(network, torch.rand((4, *SHAPE), generator=generator) * 2 - 1)
    return network.eval(), (torch.rand((1, *SHAPE), generator=generator) * 2 - 1,)


def settle(network: nn.Module, images: torch.Tensor) -> None:
    """Sets the statistics of batch norms to those of the images, without any dropout."""
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = None
        elif isinstance(module, nn.Dropout | torchvision.ops.StochasticDepth):
            module.p = 0.0
    with torch.no_grad():
        network.train()(images)
