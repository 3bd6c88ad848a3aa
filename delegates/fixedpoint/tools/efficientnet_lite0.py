"""EfficientNet-lite0: torchvision's EfficientNet-b0 without squeeze and excite, with ReLU6."""

import torch
from torch import nn
from torchvision.models import efficientnet_b0
from torchvision.ops import SqueezeExcitation


def make() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """Random weights and an example; the caller seeds torch."""
    network = efficientnet_b0()
    for parent in list(network.modules()):
        for name, child in parent.named_children():
            if isinstance(child, SqueezeExcitation):
                setattr(parent, name, nn.Identity())
            elif isinstance(child, nn.SiLU):
                setattr(parent, name, nn.ReLU6())
    return network.eval(), (torch.zeros(1, 3, 224, 224),)
