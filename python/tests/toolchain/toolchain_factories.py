"""Model factories: small nets, and ones that end their process in every way."""

import ctypes
import os
import signal
import subprocess
import time
from pathlib import Path

import torch
from torch import nn

_kept: list[object] = []


class Small(nn.Module):
    """Convolution with batch normalization, and a linear classifier."""

    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(8, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.norm(self.conv(x)))
        return self.head(self.pool(y).flatten(1))


class Partial(Small):
    """Has an operator that XNNPACK's partitioner has no rule for."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cumsum(super().forward(x), dim=1)


class Branched(nn.Module):
    """A residual block with an activation that changes its input in place, and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
        self.side = nn.Sequential(nn.Conv2d(8, 8, 1), nn.BatchNorm2d(8), nn.Hardswish(inplace=True))
        self.head = nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.stem(x)
        x = x + self.side(x)
        return self.head(x.mean((2, 3)))


class TwoInputs(nn.Module):
    def forward(self, x: torch.Tensor, index: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x * 2.0, x.index_select(1, index)


class Dead(nn.Module):
    """Answers zero to everything, and no rule can mend it."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.mean(dim=(2, 3)) * 0.0


def image() -> tuple[torch.Tensor, ...]:
    return (torch.zeros(1, 3, 16, 16),)


def small(classes: int = 10):
    return Small(classes), image()


def partial():
    return Partial(), image()


def branched():
    torch.manual_seed(0)
    return Branched().eval(), (torch.randn(1, 3, 8, 8),)


def two_inputs():
    return TwoInputs(), (torch.zeros(1, 8), torch.tensor([0, 3, 5]))


def dead():
    return Dead(), image()


def bare():
    return Small()


def not_a_model():
    return 42


def raises():
    raise ValueError("no such weights")


def exits():
    os._exit(0)


def segfaults():
    print("about to fall", flush=True)
    ctypes.string_at(0)


def aborts():
    os.kill(os.getpid(), signal.SIGABRT)


def loops(pid_file: str | None = None):
    if pid_file is not None:
        child = subprocess.Popen(["sleep", "600"])
        Path(pid_file).write_text(str(child.pid))
    while True:
        time.sleep(0.1)


def hogs(size: int = 1 << 40):
    torch.zeros(size, dtype=torch.uint8)
    return small()


class Odd(nn.Module):
    """Calls an operator that nothing but PyTorch knows."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.assay_tests.odd(x) + 1.0


def odd():
    library = torch.library.Library("assay_tests", "FRAGMENT")
    library.define("odd(Tensor x) -> Tensor")
    library.impl("odd", lambda x: x * 2.0, "CompositeExplicitAutograd")
    _kept.append(library)
    return Odd(), image()


class Histogram(nn.Module):
    """Calls that the ONNX exporter supports for some arguments only."""

    def forward(self, x):
        return torch.histc(x)


def histogram():
    return Histogram(), image()
