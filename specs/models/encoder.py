"""A small transformer encoder with seeded random weights: 64 tokens of 256 features, 10 classes."""

import torch
from torch import nn
from torch.nn import functional

TOKENS, FEATURES, HEADS, LAYERS, CLASSES = 64, 256, 4, 4, 10


class Attention(nn.Module):
    """Self-attention over all heads."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(FEATURES, 3 * FEATURES)
        self.out = nn.Linear(FEATURES, FEATURES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(batch, TOKENS, FEATURES) to the same."""
        batch = x.shape[0]
        parts = self.qkv(x).view(batch, TOKENS, 3, HEADS, FEATURES // HEADS)
        q, k, v = parts.permute(2, 0, 3, 1, 4).unbind(0)
        mixed = functional.scaled_dot_product_attention(q, k, v)
        return self.out(mixed.transpose(1, 2).reshape(batch, TOKENS, FEATURES))


class Layer(nn.Module):
    """Pre-norm attention and a feed-forward network of four times the width."""

    def __init__(self) -> None:
        super().__init__()
        self.before_attention = nn.LayerNorm(FEATURES)
        self.attention = Attention()
        self.before_mlp = nn.LayerNorm(FEATURES)
        self.mlp = nn.Sequential(
            nn.Linear(FEATURES, 4 * FEATURES), nn.GELU(), nn.Linear(4 * FEATURES, FEATURES)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(batch, TOKENS, FEATURES) to the same."""
        x = x + self.attention(self.before_attention(x))
        return x + self.mlp(self.before_mlp(x))


class Encoder(nn.Module):
    """Layers, the mean over the tokens, and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(*(Layer() for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(FEATURES)
        self.head = nn.Linear(FEATURES, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(batch, TOKENS, FEATURES) to (batch, CLASSES)."""
        return self.head(self.norm(self.layers(x)).mean(dim=1))


def make() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """The network and example inputs; the caller seeds torch."""
    return Encoder().eval(), (torch.randn(1, TOKENS, FEATURES),)
