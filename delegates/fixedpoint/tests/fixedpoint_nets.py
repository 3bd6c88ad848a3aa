"""Small networks that together use every primitive."""

import torch
from torch.nn import functional


class Mobile(torch.nn.Module):
    """A stem, a depthwise layer, squeeze and excite, a residual, a classifier."""

    def __init__(self):
        super().__init__()
        self.stem = torch.nn.Conv2d(3, 16, 3, 2, 1)
        self.norm = torch.nn.BatchNorm2d(16)
        self.deep = torch.nn.Conv2d(16, 16, 3, 1, 1, groups=16)
        self.squeeze = torch.nn.Conv2d(16, 4, 1)
        self.excite = torch.nn.Conv2d(4, 16, 1)
        self.project = torch.nn.Conv2d(16, 16, 1)
        self.classify = torch.nn.Linear(16, 10)

    def forward(self, x):
        x = functional.hardswish(self.norm(self.stem(x)))
        y = functional.relu6(self.deep(x))
        gate = functional.relu(self.squeeze(functional.adaptive_avg_pool2d(y, 1)))
        y = self.project(y * functional.hardsigmoid(self.excite(gate)))
        pooled = functional.adaptive_avg_pool2d(x + y, 1)
        return self.classify(torch.flatten(pooled, 1))


class Moving(torch.nn.Module):
    """Branches of different ranges: concatenated, sliced, permuted, flattened; pools; dilation."""

    def __init__(self):
        super().__init__()
        self.left = torch.nn.Conv2d(3, 5, 3, padding=2, dilation=2)
        self.right = torch.nn.Conv2d(3, 6, 3, padding=1)
        self.grouped = torch.nn.Conv2d(8, 4, (1, 3), groups=2, bias=False)
        self.last = torch.nn.Linear(4 * 4 * 2, 7)

    def forward(self, x):
        left = torch.tanh(self.left(x))
        right = functional.silu(self.right(x))
        both = torch.cat([left, right], 1)[:, 1:9]
        both = functional.max_pool2d(both, 3, 2, 1, ceil_mode=True)
        both = self.grouped(both)
        both = functional.avg_pool2d(both, (2, 2), 1, padding=1)
        both = both.permute(0, 2, 3, 1)[:, :4, :2]
        return self.last(functional.gelu(torch.flatten(both, 1)))


class Rows(torch.nn.Module):
    """Linear layers over rows, two inputs, two outputs, no image."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(12, 20)
        self.second = torch.nn.Linear(12, 20)

    def forward(self, a, b):
        total = functional.relu(self.first(a) + self.second(b))
        return torch.sigmoid(total), total.transpose(1, 2)


class Left(torch.nn.Module):
    """Has an operator that the delegate does not know."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Conv2d(3, 4, 3)

    def forward(self, x):
        return torch.cumsum(self.layer(x), 2)


def mobile():
    return Mobile(), (torch.randn(1, 3, 17, 17),)


def moving():
    return Moving(), (torch.randn(2, 3, 8, 9),)


def rows():
    return Rows(), (torch.randn(2, 3, 12), torch.randn(2, 3, 12))


NETS = {"mobile": mobile, "moving": moving, "rows": rows}
