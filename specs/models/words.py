"""A bag of words with seeded random weights: 24 words of 2000, given in 32 bits, and 4 topics."""

import torch
from torch import nn

WORDS, LENGTH, FEATURES, TOPICS = 2000, 24, 48, 4


class Bag(nn.Module):
    """The mean of the words, in a network of two layers."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, FEATURES)
        self.hidden, self.head = nn.Linear(FEATURES, 64), nn.Linear(64, TOPICS)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        """(batch, LENGTH) words to (batch, TOPICS)."""
        return self.head(torch.relu(self.hidden(self.words(words).mean(1))))


def make() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """The network and example inputs; the caller seeds torch."""
    return Bag().eval(), (torch.randint(0, WORDS, (1, LENGTH), dtype=torch.int32),)
