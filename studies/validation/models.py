"""MobileNetV3 small with more work: real layers, so that a comparison has something to find."""

from __future__ import annotations

import torch
import torchvision

CHANNELS, SIDE = 24, 28
"""Size of the feature map behind the fourth stage, at an input of 224 x 224."""


class Longer(torch.nn.Module):
    """The network with `more` pointwise convolutions behind its fourth stage."""

    def __init__(self, *, more: int) -> None:
        super().__init__()
        self.net = torchvision.models.mobilenet_v3_small(weights=None).eval()
        self.more = torch.nn.ModuleList(
            torch.nn.Conv2d(CHANNELS, CHANNELS, kernel_size=1) for _ in range(more)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits (N, 1000) of images (N, 3, 224, 224)."""
        for stage in self.net.features[:4]:
            x = stage(x)
        for layer in self.more:
            x = layer(x)
        for stage in self.net.features[4:]:
            x = stage(x)
        return self.net.classifier(torch.flatten(self.net.avgpool(x), 1))


def _make(more: int) -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    torch.manual_seed(0)
    return Longer(more=more).eval(), (torch.randn(1, 3, 224, 224),)


def more_0() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    """The network as it is."""
    return _make(0)


def more_1() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    """One layer more: 1 % of the instructions."""
    return _make(1)


def more_2() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    """Two layers more."""
    return _make(2)


def more_5() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    """Five layers more."""
    return _make(5)
