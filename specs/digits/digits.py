"""A small network of MobileNetV3's blocks for scikit-learn's digits, its data and its weights.

The weights, digits.safetensors, are what train.py makes.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import nn

WEIGHTS = Path(__file__).with_name("digits.safetensors")
TEST_SAMPLES = 360
CALIBRATION_SAMPLES = 64
SPLIT_SEED = 0
LARGEST_PIXEL = 16.0


class SqueezeExcite(nn.Module):
    """Scales channels by what the whole picture says."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.gate = nn.Sequential(
            nn.Conv2d(channels, channels // 4, 1),
            nn.ReLU(),
            nn.Conv2d(channels // 4, channels, 1),
            nn.Hardsigmoid(),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Keeps the shape."""
        return x * self.gate(self.pool(x))


class Block(nn.Module):
    """Expand, depthwise, squeeze and excite, project; a residual where the shape stays."""

    def __init__(self, channels: int, expanded: int, out: int, stride: int) -> None:
        super().__init__()
        self.is_residual = stride == 1 and channels == out
        self.body = nn.Sequential(
            nn.Conv2d(channels, expanded, 1, bias=False),
            nn.BatchNorm2d(expanded),
            nn.Hardswish(),
            nn.Conv2d(expanded, expanded, 3, stride, 1, groups=expanded, bias=False),
            nn.BatchNorm2d(expanded),
            nn.Hardswish(),
            SqueezeExcite(expanded),
            nn.Conv2d(expanded, out, 1, bias=False),
            nn.BatchNorm2d(out),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(n, channels, h, w) to (n, out, h / stride, w / stride)."""
        y = self.body(x)
        return x + y if self.is_residual else y


class Digits(nn.Module):
    """Scores of ten digits from a picture of 8 x 8 grey values in [0, 1]."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(1, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.Hardswish()
        )
        self.blocks = nn.Sequential(
            Block(16, 48, 16, 1), Block(16, 64, 32, 2), Block(32, 96, 32, 1), Block(32, 96, 48, 2)
        )
        self.head = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(48, 96),
            nn.Hardswish(),
            nn.Linear(96, 10),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(n, 1, 8, 8) to (n, 10)."""
        return self.head(self.blocks(self.stem(x)))


def make() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """The trained network and an example input."""
    from safetensors.torch import load_file

    network = Digits()
    network.load_state_dict(load_file(WEIGHTS))
    return network.eval(), (torch.zeros(1, 1, 8, 8),)


def split() -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """(pictures, digits) to train with, and to test with: always the same."""
    from sklearn.datasets import load_digits

    data = load_digits()
    pictures = (data.images / LARGEST_PIXEL).astype(np.float32)[:, None]
    order = np.random.default_rng(SPLIT_SEED).permutation(len(pictures))
    test, train = order[:TEST_SAMPLES], order[TEST_SAMPLES:]
    return (pictures[train], data.target[train]), (pictures[test], data.target[test])


def test() -> Iterator[tuple[torch.Tensor, int]]:
    """Pictures that training has not seen, one at a time, with their digit."""
    pictures, digits = split()[1]
    for picture, digit in zip(pictures, digits, strict=True):
        yield torch.from_numpy(picture[None]), int(digit)


def calibration() -> Iterator[tuple[torch.Tensor, None]]:
    """Some of the pictures of training."""
    for picture in split()[0][0][:CALIBRATION_SAMPLES]:
        yield torch.from_numpy(picture[None]), None
