"""A small decoder with seeded random weights: words, positions, causal attention, padding.

32 words of 500, a mask that says which of them are padding; scores of the next word.
"""

import torch
from torch import nn
from torch.nn import functional

WORDS, LENGTH, FEATURES, HEADS, LAYERS = 500, 32, 64, 4, 2


class Layer(nn.Module):
    """Pre-norm causal attention that sees no padding, and a feed-forward network."""

    def __init__(self) -> None:
        super().__init__()
        self.before_attention, self.before_mlp = nn.LayerNorm(FEATURES), nn.LayerNorm(FEATURES)
        self.qkv, self.out = nn.Linear(FEATURES, 3 * FEATURES), nn.Linear(FEATURES, FEATURES)
        self.mlp = nn.Sequential(
            nn.Linear(FEATURES, 4 * FEATURES), nn.GELU(), nn.Linear(4 * FEATURES, FEATURES)
        )

    def forward(self, x: torch.Tensor, padding: torch.Tensor) -> torch.Tensor:
        """(batch, LENGTH, FEATURES) to the same."""
        parts = self.qkv(self.before_attention(x)).view(-1, LENGTH, 3, HEADS, FEATURES // HEADS)
        q, k, v = parts.permute(2, 0, 3, 1, 4).unbind(0)
        seen = functional.scaled_dot_product_attention(q, k, v, ~padding[:, None, None])
        past = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out((seen + past).transpose(1, 2).reshape(-1, LENGTH, FEATURES))
        return x + self.mlp(self.before_mlp(x))


class Decoder(nn.Module):
    """Layers over words and their positions, and scores of words."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, FEATURES), nn.Embedding(LENGTH, FEATURES)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(FEATURES), nn.Linear(FEATURES, WORDS)

    def forward(self, words: torch.Tensor, padding: torch.Tensor) -> torch.Tensor:
        """(batch, LENGTH) words, and which are padding, to (batch, LENGTH, WORDS)."""
        x = self.words(words) + self.places(torch.arange(LENGTH))
        for layer in self.layers:
            x = layer(x, padding)
        return self.head(self.norm(x))


def make() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """The network and example inputs; the caller seeds torch."""
    padding = torch.arange(LENGTH)[None] >= LENGTH - 7
    return Decoder().eval(), (torch.randint(0, WORDS, (1, LENGTH)), padding)
