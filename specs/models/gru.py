"""A small recurrent network with seeded random weights: 16 steps of 40 features, 12 classes."""

import torch
from torch import nn

STEPS, FEATURES, UNITS, CLASSES = 16, 40, 32, 12


class Gru(nn.Module):
    """Two layers of a GRU; the last output is classified."""

    def __init__(self) -> None:
        super().__init__()
        self.cells = nn.GRU(FEATURES, UNITS, 2, batch_first=True)
        self.head = nn.Linear(UNITS, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(batch, STEPS, FEATURES) to (batch, CLASSES)."""
        y, _ = self.cells(x)
        return self.head(y[:, -1])


def make() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """The network and example inputs; the caller seeds torch."""
    return Gru().eval(), (torch.randn(1, STEPS, FEATURES),)
