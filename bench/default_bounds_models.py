"""Networks whose outputs or rounding are unlike those of most: for bench/default_bounds.py."""

from __future__ import annotations

import torch
from torch import nn

Made = tuple[nn.Module, tuple[torch.Tensor, ...]]


class Recognizer(nn.Module):
    """The end of a recognizer: probabilities of 18,710 classes, peaked by the spread of weights."""

    def __init__(self, spread: float) -> None:
        super().__init__()
        self.scores = nn.Linear(120, 18710)
        nn.init.normal_(self.scores.weight, std=spread)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Probabilities of a row."""
        return torch.softmax(self.scores(x), -1)


class Amplifier(nn.Module):
    """Layers that stretch small differences: each takes the sine of several turns."""

    def __init__(self, depth: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(64, 64) for _ in range(depth))
        for layer in self.layers:
            nn.init.normal_(layer.weight, std=0.3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The last layer's sines."""
        for layer in self.layers:
            x = torch.sin(layer(x))
        return x


def recognizer(spread: float = 0.4) -> Made:
    """Made for `python bench/default_bounds.py`."""
    return Recognizer(spread), (torch.randn(40, 120),)


def amplifier(depth: int = 8) -> Made:
    """Made for `python bench/default_bounds.py`."""
    return Amplifier(depth), (torch.randn(16, 64),)
