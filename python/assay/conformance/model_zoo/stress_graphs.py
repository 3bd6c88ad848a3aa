"""Small graphs made to break partitioners, quantizers and memory planners."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from assay.conformance.model_zoo.entry import Entry
from assay.toolchain.tensors import Sample

Made = tuple[nn.Module, Sample]


class Applied(nn.Module):  # type: ignore[misc]
    """A graph written as a function of its layers and its inputs."""

    def __init__(self, function: Callable[..., Any], **layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.ModuleDict(layers)
        self._function = function

    def forward(self, *inputs: torch.Tensor) -> Any:
        """The outputs of the function."""
        return self._function(self.layers, *inputs)


def _image() -> torch.Tensor:
    return torch.zeros(1, 4, 8, 8)


def _rows() -> torch.Tensor:
    return torch.zeros(3, 16)


def _conv(inputs: int = 4, outputs: int = 4) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, 3, padding=1)


def conv_called_twice() -> Made:
    """One convolution used for two results: its weight is quantized for two nodes."""
    return Applied(lambda m, x: m.conv(torch.relu(m.conv(x))), conv=_conv()), (_image(),)


def linear_called_twice() -> Made:
    """One linear layer used twice."""
    return Applied(lambda m, x: m.one(m.one(x).tanh()), one=nn.Linear(16, 16)), (_rows(),)


def diamond() -> Made:
    """Two ways from one value to one sum, of which one is left to somebody else."""
    module = Applied(
        lambda m, x: m.left(m.stem(x)) + torch.cumsum(m.right(m.stem(x)), -1) * 0.1,
        stem=_conv(),
        left=_conv(),
        right=_conv(),
    )
    return module, (_image(),)


def partition_sandwich() -> Made:
    """Parts that are delegated, between parts that seldom are: several delegates in one program."""

    def run(m: Any, x: torch.Tensor) -> torch.Tensor:
        x = torch.cumsum(m.one(x), -1)
        x = torch.flip(m.two(x), (-1,))
        return m.three(torch.cumsum(x, -2))

    return Applied(run, one=_conv(), two=_conv(), three=_conv()), (_image(),)


def cycle_trap() -> Made:
    """Merging both convolutions would make a cycle: one feeds the other past an outsider."""

    def run(m: Any, x: torch.Tensor) -> torch.Tensor:
        first = m.one(x)
        return m.two(torch.cumsum(first, -1)) + first

    return Applied(run, one=_conv(), two=_conv()), (_image(),)


def tied_weights() -> Made:
    """The embedding's matrix is the head's, too."""
    words, head = nn.Embedding(20, 16), nn.Linear(16, 20, bias=False)
    head.weight = words.weight
    return Applied(lambda m, x: m.head(m.words(x)), words=words, head=head), (
        torch.tensor([[0, 19, 7, 3]]),
    )


def shared_bias() -> Made:
    """Two linear layers with one bias."""
    one, two = nn.Linear(16, 16), nn.Linear(16, 16)
    two.bias = one.bias
    return Applied(lambda m, x: m.two(m.one(x)), one=one, two=two), (_rows(),)


def aliasing_outputs() -> Made:
    """One result given out twice, and a view of it."""

    def run(m: Any, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = m.one(x)
        return y, y, y.view(-1)

    return Applied(run, one=nn.Linear(16, 8)), (_rows(),)


def view_of_input() -> Made:
    """An input given out in another shape, next to something computed."""
    return Applied(lambda m, x: (x.view(4, 12), x + 1)), (_rows(),)


def constant_output() -> Made:
    """A constant given out next to something computed."""
    constant = torch.linspace(-1, 1, 6)
    return Applied(lambda m, x: (m.one(x), constant), one=nn.Linear(16, 4)), (_rows(),)


def parameter_output() -> Made:
    """A weight given out, and used."""
    return Applied(lambda m, x: (m.one(x), m.one.weight), one=nn.Linear(16, 4)), (_rows(),)


def input_unchanged() -> Made:
    """An input given out as it is, next to something computed."""
    return Applied(lambda m, x: (x, m.one(x)), one=nn.Linear(16, 4)), (_rows(),)


def identity() -> Made:
    """Nothing at all."""
    return Applied(lambda m, x: x), (_rows(),)


def no_op_graph() -> Made:
    """Operators that change nothing, in a row."""
    module = Applied(
        lambda m, x: m.drop(x.contiguous().view(3, 16).permute(0, 1).expand(3, 16) + 0),
        drop=nn.Dropout(),
    )
    return module, (_rows(),)


def unused_input() -> Made:
    """Two inputs, of which the second feeds nothing."""
    return Applied(lambda m, x, y: m.one(x), one=nn.Linear(16, 4)), (_rows(), _rows())


def input_used_twice() -> Made:
    """Both operands are one value."""
    return Applied(lambda m, x: (x * x + x) @ x.t()), (_rows(),)


def linears_with_one_source() -> Made:
    """Three linear layers that read one value: it is to be quantized once, when that is dynamic."""
    module = Applied(
        lambda m, x: m.query(x) * m.key(x) + m.value(x),
        query=nn.Linear(16, 8),
        key=nn.Linear(16, 8),
        value=nn.Linear(16, 8),
    )
    return module, (_rows(),)


def linear_with_several_consumers() -> Made:
    """A linear layer whose result three read: a linear layer, an activation, the output."""

    def run(m: Any, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = m.one(x)
        return y, m.two(y), torch.relu(y)

    return Applied(run, one=nn.Linear(16, 16), two=nn.Linear(16, 4)), (_rows(),)


def linear_beside_add() -> Made:
    """A linear layer and a sum read one value: the one wants it quantized, the other need not."""
    return Applied(lambda m, x: m.one(x) + x, one=nn.Linear(16, 16)), (_rows(),)


def conv_relu_with_two_readers() -> Made:
    """A convolution that an activation would be fused into, but that another reads, too."""

    def run(m: Any, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = m.conv(x)
        return torch.relu(y), torch.sigmoid(y)

    return Applied(run, conv=_conv()), (_image(),)


def conv_batch_norm_with_two_readers() -> Made:
    """A convolution that a normalization would be folded into, but that another reads, too."""

    def run(m: Any, x: torch.Tensor) -> torch.Tensor:
        y = m.conv(x)
        return m.norm(y) + y

    return Applied(run, conv=_conv(), norm=nn.BatchNorm2d(4)), (_image(),)


def concatenation_of_one() -> Made:
    """One value concatenated with itself three times, and a slice of it."""
    return Applied(lambda m, x: torch.cat((x, x, x), 1)[:, 5:37]), (_rows(),)


def split_and_join() -> Made:
    """Channels taken apart, one piece changed, put together in another order."""

    def run(m: Any, x: torch.Tensor) -> torch.Tensor:
        first, second = m.conv(x).chunk(2, 1)
        return torch.cat((torch.relu(second), first), 1)

    return Applied(run, conv=_conv()), (_image(),)


def channels_last_inside() -> Made:
    """The order of memory changes between two convolutions."""

    def run(m: Any, x: torch.Tensor) -> torch.Tensor:
        y = m.one(x).to(memory_format=torch.channels_last)
        return m.two(y).contiguous()

    return Applied(run, one=_conv(), two=_conv()), (_image(),)


class Counter(nn.Module):  # type: ignore[misc]
    """Writes a buffer that it does not read before: the state is that of the last input."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("last", torch.zeros(3, 16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Stores x, and reads it again."""
        self.last.copy_(x * 2)
        return self.last + 1


def buffer_written_first() -> Made:
    """A buffer that is written before it is read."""
    return Counter(), (_rows(),)


def in_place_on_view() -> Made:
    """A part of a copy is changed in place."""

    def run(m: Any, x: torch.Tensor) -> torch.Tensor:
        y = x.clone()
        y[:, 3:9].mul_(2).add_(1)
        return y

    return Applied(run), (_rows(),)


def _branch(m: Any, x: torch.Tensor) -> torch.Tensor:
    return torch.cond(x.sum() > 0, lambda v: v * 2, lambda v: v - 1, (x,))


def condition() -> Made:
    """Control flow that the values decide."""
    return Applied(_branch), (_rows(),)


def deep_chain() -> Made:
    """Sixty small operators in a row: recursion in a partitioner is as deep."""

    def run(m: Any, x: torch.Tensor) -> torch.Tensor:
        for step in range(30):
            x = x + 0.1 * torch.sin(x + step)
        return x

    return Applied(run), (_rows(),)


def many_outputs() -> Made:
    """Twenty results of one value."""
    return Applied(lambda m, x: tuple(x * (i + 1) for i in range(20))), (_rows(),)


def scalar_output() -> Made:
    """A result without dimensions."""
    return Applied(lambda m, x: m.one(x).square().mean(), one=nn.Linear(16, 4)), (_rows(),)


MAKERS = (
    conv_called_twice,
    linear_called_twice,
    diamond,
    partition_sandwich,
    cycle_trap,
    tied_weights,
    shared_bias,
    aliasing_outputs,
    view_of_input,
    constant_output,
    parameter_output,
    input_unchanged,
    identity,
    no_op_graph,
    unused_input,
    input_used_twice,
    linears_with_one_source,
    linear_with_several_consumers,
    linear_beside_add,
    conv_relu_with_two_readers,
    conv_batch_norm_with_two_readers,
    concatenation_of_one,
    split_and_join,
    channels_last_inside,
    buffer_written_first,
    in_place_on_view,
    condition,
    deep_chain,
    many_outputs,
    scalar_output,
)

ENTRIES = [Entry(make.__name__, make, cost=2.0) for make in MAKERS]
