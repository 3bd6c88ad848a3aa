"""Small networks of the kinds that run on devices."""

import itertools
import math
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional

from assay.conformance.model_zoo.entry import Entry, Factory
from assay.toolchain.tensors import Sample
from assay.toolchain.types import InputSpec

HIDDEN, HEADS, WORDS = 32, 4, 50


class Encoder(nn.Module):  # type: ignore[misc]
    """A transformer's layer written out: attention of `HEADS` heads, then two linear layers."""

    def __init__(self, hidden: int = HIDDEN) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.query, self.key, self.value, self.out = (nn.Linear(hidden, hidden) for _ in range(4))
        self.wide, self.narrow = nn.Linear(hidden, 2 * hidden), nn.Linear(2 * hidden, hidden)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[batch, length, hidden] to the same."""
        batch, length, hidden = x.shape
        given = self.first(x)
        query, key, value = (
            layer(given).view(batch, length, HEADS, hidden // HEADS).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        seen = functional.scaled_dot_product_attention(query, key, value)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, length, hidden))
        return x + self.narrow(functional.gelu(self.wide(self.second(x))))


class Transformer(nn.Module):  # type: ignore[misc]
    """Words, positions, two layers, a head."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, HIDDEN), nn.Embedding(16, HIDDEN)
        self.layers = nn.Sequential(Encoder(), Encoder())
        self.head = nn.Linear(HIDDEN, WORDS)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        """[batch, length] of words to scores of words."""
        places = torch.arange(words.shape[1], device=words.device)
        return self.head(self.layers(self.words(words) + self.places(places)))


class MobileBert(nn.Module):  # type: ignore[misc]
    """Bottlenecks around attention, and scale and shift in the place of normalization."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, 2 * HIDDEN)
        self.narrow, self.wide = nn.Linear(2 * HIDDEN, HIDDEN), nn.Linear(HIDDEN, 2 * HIDDEN)
        self.scale, self.shift = (
            nn.Parameter(torch.rand(2 * HIDDEN) + 0.5),
            nn.Parameter(torch.randn(2 * HIDDEN)),
        )
        self.layer, self.head = Encoder(), nn.Linear(2 * HIDDEN, 2)

    def forward(self, words: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Words and a mask to two scores."""
        x = self.words(words) * mask.unsqueeze(-1)
        x = (x + self.wide(torch.relu(self.layer(self.narrow(x))))) * self.scale + self.shift
        return self.head(x[:, 0])


class VisionTransformer(nn.Module):  # type: ignore[misc]
    """Patches by a convolution, a token for the class, two layers."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, HIDDEN, 8, 8)
        self.token = nn.Parameter(torch.randn(1, 1, HIDDEN))
        self.places = nn.Parameter(torch.randn(1, 17, HIDDEN))
        self.layers = nn.Sequential(Encoder(), Encoder())
        self.head = nn.Linear(HIDDEN, 10)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        """[batch, 3, 32, 32] to ten scores."""
        x = self.patches(image).flatten(2).transpose(1, 2)
        x = torch.cat((self.token.expand(x.shape[0], -1, -1), x), 1) + self.places
        return self.head(self.layers(x)[:, 0])


class Lstm(nn.Module):  # type: ignore[misc]
    """A recurrent network of two layers and its last state."""

    def __init__(self) -> None:
        super().__init__()
        self.cells = nn.LSTM(8, 16, num_layers=2, batch_first=True)
        self.head = nn.Linear(16, 4)
        with torch.no_grad():  # the usual initial weights hardly let the input through
            for weight in self.parameters():
                weight.mul_(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[batch, time, 8] to four scores."""
        answers, _ = self.cells(x)
        return self.head(answers[:, -1])


class Gru(nn.Module):  # type: ignore[misc]
    """A recurrent network that reads in both directions."""

    def __init__(self) -> None:
        super().__init__()
        self.cells = nn.GRU(8, 12, batch_first=True, bidirectional=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[batch, time, 8] to [batch, time, 24]."""
        answers, _ = self.cells(x)
        return answers


class Tcn(nn.Module):  # type: ignore[misc]
    """Dilated causal convolutions with residuals."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv1d(8, 8, 3, dilation=2**i) for i in range(4))
        self.head = nn.Conv1d(8, 4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[batch, 8, time] to [batch, 4, time]."""
        for layer in self.layers:
            padded = functional.pad(x, (2 * layer.dilation[0], 0))
            x = x + torch.relu(layer(padded))
        return self.head(x)


def _ds_block(channels: int) -> list[nn.Module]:
    depthwise = nn.Conv2d(channels, channels, 3, padding=1, groups=channels, bias=False)
    pointwise = nn.Conv2d(channels, channels, 1, bias=False)
    norms = nn.BatchNorm2d(channels), nn.BatchNorm2d(channels)
    return [depthwise, norms[0], nn.ReLU(), pointwise, norms[1], nn.ReLU()]


def _ds_cnn() -> tuple[nn.Module, Sample]:
    """Keyword spotting: depthwise separable convolutions over a spectrogram."""
    stem = [nn.Conv2d(1, 16, (10, 4), stride=2, padding=(4, 1), bias=False), nn.BatchNorm2d(16)]
    blocks = [layer for _ in range(3) for layer in _ds_block(16)]
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 12)]
    return nn.Sequential(*stem, nn.ReLU(), *blocks, *head), (torch.zeros(1, 1, 49, 10),)


class UNet(nn.Module):  # type: ignore[misc]
    """A U: down twice, up twice, joined with the values of the way down."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.ModuleList(nn.Conv2d(a, b, 3, padding=1) for a, b in ((3, 8), (8, 16)))
        self.low = nn.Conv2d(16, 32, 3, padding=1)
        self.up = nn.ModuleList(nn.ConvTranspose2d(a, b, 2, 2) for a, b in ((32, 16), (16, 8)))
        self.join = nn.ModuleList(nn.Conv2d(a, b, 3, padding=1) for a, b in ((32, 16), (16, 8)))
        self.head = nn.Conv2d(8, 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[batch, 3, height, width] to a map of two classes."""
        kept = []
        for layer in self.down:
            x = torch.relu(layer(x))
            kept.append(x)
            x = functional.max_pool2d(x, 2)
        x = torch.relu(self.low(x))
        for up, join in zip(self.up, self.join, strict=True):
            x = torch.relu(join(torch.cat((up(x), kept.pop()), 1)))
        return self.head(x)


def _super_resolution() -> tuple[nn.Module, Sample]:
    """Three convolutions and a shuffle of channels into pixels."""
    layers = [nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU()]
    net = nn.Sequential(*layers, nn.Conv2d(16, 9, 3, padding=1), nn.PixelShuffle(3))
    return net, (torch.zeros(1, 1, 20, 24),)


class DetectionHead(nn.Module):  # type: ignore[misc]
    """Boxes and scores over two levels of features, decoded: no choice of the best."""

    def __init__(self) -> None:
        super().__init__()
        self.classes, self.boxes = nn.Conv2d(16, 6, 3, padding=1), nn.Conv2d(16, 8, 3, padding=1)

    def forward(self, fine: torch.Tensor, coarse: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Two maps of features to scores [boxes, 3] and corners [boxes, 4]."""
        scores, corners = [], []
        for level in (fine, coarse):
            scores.append(self.classes(level).permute(0, 2, 3, 1).reshape(-1, 3).sigmoid())
            box = self.boxes(level).permute(0, 2, 3, 1).reshape(-1, 4)
            centre, size = box[:, :2], box[:, 2:].clamp(max=4).exp()
            corners.append(torch.cat((centre - size / 2, centre + size / 2), 1))
        return torch.cat(scores), torch.cat(corners)


class Decoder(nn.Module):  # type: ignore[misc]
    """A step of a decoder: a word and its place in, scores out; keys and values stay in buffers."""

    length = 12

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, HIDDEN)
        self.query, self.key, self.value = (nn.Linear(HIDDEN, HIDDEN) for _ in range(3))
        self.head = nn.Linear(HIDDEN, WORDS)
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(1, self.length, HIDDEN))

    def forward(self, word: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
        """[1, 1] and [1] to [1, 1, words]."""
        x = self.words(word)
        self.keys.index_copy_(1, place, self.key(x))
        self.values.index_copy_(1, place, self.value(x))
        weights = self.query(x) @ self.keys.transpose(1, 2) / math.sqrt(HIDDEN)
        is_past = torch.arange(self.length) <= place
        weights = weights.masked_fill(~is_past, -1e4).softmax(-1)
        return self.head(weights @ self.values + x)


class MixtureOfExperts(nn.Module):  # type: ignore[misc]
    """Two of four experts for each row, all of them computed."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(HIDDEN, 4)
        self.experts = nn.ModuleList(nn.Linear(HIDDEN, HIDDEN) for _ in range(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[rows, hidden] to the same."""
        weights, chosen = self.gate(x).softmax(-1).topk(2)
        shares = torch.zeros(x.shape[0], 4).scatter(1, chosen, weights)
        answers = torch.stack([expert(x) for expert in self.experts], -1)
        return (answers * shares.unsqueeze(1)).sum(-1)


def _autoencoder() -> tuple[nn.Module, Sample]:
    """Linear layers to a narrow middle and back."""
    sizes = (64, 24, 6, 24, 64)
    layers: list[nn.Module] = []
    for wide, narrow in itertools.pairwise(sizes):
        layers += [nn.Linear(wide, narrow), nn.Tanh()]
    return nn.Sequential(*layers[:-1]), (torch.zeros(4, 64),)


def _of(module: Callable[[], nn.Module], *example: torch.Tensor) -> Factory:
    return lambda: (module(), example)


_range = torch.tensor([[0, WORDS - 1] * 4])

ENTRIES = [
    Entry("transformer", _of(Transformer, _range), cost=12),
    Entry("mobile_bert", _of(MobileBert, _range, torch.ones(1, 8)), cost=10),
    Entry("vision_transformer", _of(VisionTransformer, torch.zeros(1, 3, 32, 32)), cost=12),
    Entry("lstm", _of(Lstm, torch.zeros(2, 6, 8)), cost=15),
    Entry("gru", _of(Gru, torch.zeros(2, 6, 8)), cost=15),
    Entry("tcn", _of(Tcn, torch.zeros(1, 8, 32))),
    Entry("ds_cnn", _ds_cnn, needs_weight_init=True),
    Entry("unet", _of(UNet, torch.zeros(1, 3, 24, 32))),
    Entry("super_resolution", _super_resolution),
    Entry("detection_head", _of(DetectionHead, torch.zeros(1, 16, 8, 8), torch.zeros(1, 16, 4, 4))),
    Entry(
        "decoder_with_cache",
        _of(Decoder, torch.tensor([[0]]), torch.tensor([3])),
        inputs=(InputSpec((1, 1), "int64", 0, WORDS), InputSpec((1,), "int64", 3, 4)),
    ),
    Entry("mixture_of_experts", _of(MixtureOfExperts, torch.zeros(6, HIDDEN))),
    Entry("autoencoder", _autoencoder),
]
