"""Small networks that together use every primitive."""

import pytest
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


class Attention(torch.nn.Module):
    """A convolution over time, positions, attention of two heads, a feed-forward, a mean."""

    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Conv1d(5, 8, 2, 2)
        self.places = torch.nn.Parameter(torch.randn(1, 6, 8))
        self.before, self.after = torch.nn.LayerNorm(8), torch.nn.LayerNorm(8)
        with torch.no_grad():
            self.before.weight.copy_(torch.linspace(-1, 1, 8))
            self.before.weight[3] = 0
            self.before.bias.normal_()
        self.qkv = torch.nn.Linear(8, 24)
        self.out = torch.nn.Linear(8, 8)
        self.wide, self.narrow = torch.nn.Linear(8, 16), torch.nn.Linear(16, 8)
        self.head = torch.nn.Linear(8, 5)

    def attend(self, x):
        parts = self.qkv(x).view(x.shape[0], 6, 3, 2, 4)
        q, k, v = parts.permute(2, 0, 3, 1, 4).unbind(0)
        mixed = functional.scaled_dot_product_attention(q, k, v)
        return self.out(mixed.transpose(1, 2).reshape(x.shape[0], 6, 8))

    def forward(self, x):
        x = self.embed(x).transpose(1, 2) + self.places
        x = x + self.attend(self.before(x))
        x = x + self.narrow(functional.gelu(self.wide(self.after(x))))
        first, second = x.chunk(2, 1)
        gate = torch.softmax((first @ second.transpose(1, 2)) / 3.0, 1)
        return self.head(x.mean(1)), gate * 2.0


class Edges(torch.nn.Module):
    """Padding before and behind, of one value and another; shuffled pixels."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Conv2d(3, 4, 3)
        self.second = torch.nn.Conv2d(4, 8, 3)
        self.causal = torch.nn.Conv1d(12, 6, 3, dilation=2)

    def forward(self, x):
        x = functional.relu(self.first(functional.pad(x, (2, 0, 1, 1), value=0.5)))
        x = functional.pixel_shuffle(self.second(x), 2)
        rows = x.mean(1).transpose(1, 2)
        return x, self.causal(functional.pad(rows, (4, 0)))


class Recurrent(torch.nn.Module):
    """Two layers of an LSTM in both directions; states that are given and states that are zero."""

    def __init__(self):
        super().__init__()
        self.both = torch.nn.LSTM(6, 8, bidirectional=True)
        self.second = torch.nn.LSTM(16, 5, batch_first=True)
        self.head = torch.nn.Linear(5, 3)

    def forward(self, x, h, c):
        y, (h, _) = self.both(x, (h, c))
        z, (_, c) = self.second(y.transpose(0, 1))
        return h, c, self.head(z)


class Gated(torch.nn.Module):
    """Two layers of a GRU from a state that is given, one without biases, a cell by hand."""

    def __init__(self):
        super().__init__()
        self.cells = torch.nn.GRU(6, 8, 2)
        self.last = torch.nn.GRU(8, 5, batch_first=True, bias=False)
        self.gate, self.candidate = torch.nn.Linear(13, 8), torch.nn.Linear(5, 8)

    def forward(self, x, h):
        y, h = self.cells(x, h)
        z, last = self.last(y.transpose(0, 1))
        gate = torch.sigmoid(self.gate(torch.cat([last[0], h[1]], 1)))
        mixed = (1 - gate) * h[1] + gate * torch.tanh(self.candidate(last[0]))
        return h, z, mixed


class Tokens(torch.nn.Module):
    """Tables read by indices of 64 and of 32 bits, as they are, turned, and by constants."""

    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(11, 8, padding_idx=0)
        self.kinds = torch.nn.Embedding(3, 8)
        self.places = torch.nn.Embedding(5, 8)
        self.register_buffer("order", torch.arange(5)[None])
        self.head = torch.nn.Linear(8, 4)

    def forward(self, words, kinds):
        x = self.words(words) + self.kinds(kinds.transpose(0, 1)[:, 1:]) + self.places(self.order)
        return self.head(x), self.words(words[:, 2])


class Masked(torch.nn.Module):
    """Attention under causal, padding and relative masks; rows that are masked whole."""

    def __init__(self):
        super().__init__()
        self.qkv = torch.nn.Linear(8, 24)
        bias = -torch.arange(6.0)[:, None].sub(torch.arange(6.0)).abs()
        self.register_buffer("near", bias.masked_fill(bias < -3, -torch.inf))
        self.layer = torch.nn.TransformerEncoderLayer(8, 2, 12, batch_first=True)

    def forward(self, x, padding):
        q, k, v = self.qkv(x).view(x.shape[0], 6, 3, 2, 4).permute(2, 0, 3, 1, 4).unbind(0)
        attend = functional.scaled_dot_product_attention
        mixed = attend(q, k, v, is_causal=True) + attend(q, k, v, self.near)
        mixed = mixed + attend(q, k, v, ~padding[:, None, None])
        scores = q @ k.transpose(-1, -2)
        filled = scores.masked_fill(padding.view(-1, 1, 6, 1), -1e9).softmax(-1)
        allowed = torch.ones(6, 6, dtype=torch.bool).tril(2)
        chosen = torch.where(allowed, scores, -torch.inf).softmax(-2)
        x = mixed.transpose(1, 2).reshape(x.shape[0], 6, 8) + x
        return filled, chosen @ v, self.layer(x[:1], src_key_padding_mask=padding[:1])


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


def attention():
    return Attention(), (torch.randn(2, 5, 12),)


def edges():
    return Edges(), (torch.randn(2, 3, 7, 8),)


def recurrent():
    return Recurrent(), (torch.randn(4, 2, 6), torch.randn(2, 2, 8), torch.randn(2, 2, 8))


def gated():
    return Gated(), (torch.randn(2, 2, 6), torch.randn(2, 2, 8))


def tokens():
    words = torch.tensor([[0, 10, 3, 3, 7], [1, 2, 9, 0, 10]])
    return Tokens(), (
        words,
        torch.tensor([[1, 2, 0, 1, 1, 2], [0, 0, 1, 2, 2, 0]]).int().T.contiguous(),
    )


def masked():
    padding = torch.tensor([[False, False, True, False, True, True], [True] * 6])
    return Masked(), (torch.randn(2, 6, 8), padding)


NETS = {
    **{"mobile": mobile, "moving": moving, "rows": rows, "attention": attention, "edges": edges},
    "recurrent": recurrent,
    "gated": gated,
    "tokens": tokens,
    "masked": masked,
}


def batches_like(example, count):
    """Other inputs of the types and shapes of an example; indices are its own, in other orders."""
    return [tuple(_other(x) for x in example) for _ in range(count)]


def _other(x):
    if x.is_floating_point():
        return torch.randn_like(x)
    return x.flatten()[torch.randperm(x.numel())].reshape(x.shape)


_LONG = ("recurrent", "gated")

NETS_TO_TEST = [
    pytest.param(name, marks=[pytest.mark.long] if name in _LONG else []) for name in NETS
]
"""Names for tests that repeat what test_fixedpoint_programs.py asks of every network; to export
those of recurrent layers takes most of a minute."""
