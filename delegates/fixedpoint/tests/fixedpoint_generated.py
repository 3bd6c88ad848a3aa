"""Generated networks of small sizes: layers drawn one after the other on one value."""

import torch
from torch.nn import functional

_FUNCTIONS = (
    torch.relu, torch.tanh, torch.sigmoid, torch.abs, torch.neg, functional.silu, functional.gelu,
    functional.hardswish, functional.hardsigmoid, functional.elu, functional.relu6, torch.sin,
    lambda x: x.clamp(-0.5, 0.7), lambda x: x + 0.3, lambda x: 1 - x, lambda x: x / 3,
    lambda x: x.half().float(), lambda x: torch.clamp(x, torch.tensor(-0.5), torch.tensor(0.7)),
)  # fmt: skip


class Generated(torch.nn.Module):
    """Steps on images (N, C, H, W) or rows (N, T, F), and what each needs."""

    def __init__(self, draw):
        super().__init__()
        self.steps, self.layers = [], torch.nn.ModuleList()
        self.example = (_first(draw),)
        value = self.example[0]
        for _ in range(draw.randrange(2, 7)):
            step = _step(draw, value, self.layers)
            try:
                with torch.no_grad():
                    made = step(value)
            except (RuntimeError, IndexError, ValueError):  # no sizes that this operator takes
                continue
            if 0 < made.numel() < 20000 and made.dim() <= 8:
                self.steps.append(step)
                value = made

    def forward(self, x):
        for step in self.steps:
            x = step(x)
        return x * 1.0


def _first(draw):
    batch = draw.choice([1, 1, 2, 3])
    if draw.random() < 0.6:
        made = torch.randn(
            batch, draw.randrange(1, 9), draw.randrange(1, 10), draw.randrange(1, 10)
        )
        is_last = draw.random() < 0.3
        return made.to(memory_format=torch.channels_last) if is_last else made
    return torch.randn(batch, draw.randrange(1, 9), draw.randrange(1, 17))


def _step(draw, value, layers):
    if value.dim() == 0:
        return _function(draw, value, layers)
    kinds = [_function, _function, _move, _mean, _joined]
    if value.dim() == 4:
        kinds += [_conv2d] * 4 + [_pool, _pool, _adaptive, _padded, _layout]
    elif value.dim() == 3:
        kinds += [_conv1d] * 2 + [_linear, _linear, _normed, _softmax, _attention]
    else:
        kinds += [_linear, _softmax]
    return draw.choice(kinds)(draw, value, layers)


def _function(draw, value, layers):
    return draw.choice(_FUNCTIONS)


def _kept(layers, layer):
    layers.append(layer)
    return layer


def _conv2d(draw, value, layers):
    channels = value.shape[1]
    groups = draw.choice([1, 1, channels])
    kernel = draw.randrange(1, 6), draw.randrange(1, 6)
    options = {
        "stride": (draw.randrange(1, 4), draw.randrange(1, 4)),
        "padding": draw.choice([0, 1, (draw.randrange(6), draw.randrange(6))]),
        "dilation": draw.choice([1, 1, 2]), "groups": groups, "bias": draw.random() < 0.8,
    }  # fmt: skip
    if draw.random() < 0.1:
        options |= {"stride": 1, "padding": "same"}
    outputs = groups * draw.randrange(1, 5)
    return _kept(layers, torch.nn.Conv2d(channels, outputs, kernel, **options))


def _conv1d(draw, value, layers):
    padding = draw.choice([0, draw.randrange(5), "same"])
    stride = 1 if padding == "same" else draw.randrange(1, 4)
    kernel = draw.randrange(1, 5)
    made = torch.nn.Conv1d(value.shape[1], draw.randrange(1, 9), kernel, stride, padding)
    return _kept(layers, made)


def _linear(draw, value, layers):
    return _kept(layers, torch.nn.Linear(value.shape[-1], draw.randrange(1, 17)))


def _normed(draw, value, layers):
    shape = value.shape[-draw.randrange(1, 3) :]
    return _kept(layers, torch.nn.LayerNorm(shape, eps=draw.choice([1e-5, 1e-2])))


def _pool(draw, value, layers):
    kernel, stride = draw.randrange(1, 5), draw.randrange(1, 4)
    padding, is_ceil = draw.randrange(kernel // 2 + 1), draw.random() < 0.3
    if draw.random() < 0.5:
        return lambda x: functional.max_pool2d(x, kernel, stride, padding, 1, is_ceil)
    counts = draw.random() < 0.5
    return lambda x: functional.avg_pool2d(x, kernel, stride, padding, is_ceil, counts)


def _adaptive(draw, value, layers):
    sizes = draw.choice([1, (draw.randrange(1, 5), draw.randrange(1, 5))])
    return lambda x: functional.adaptive_avg_pool2d(x, sizes)


def _padded(draw, value, layers):
    widths = [draw.randrange(3) for _ in range(4)]
    filler = draw.choice([0.0, 0.5, -torch.inf])
    if filler == -torch.inf:
        return lambda x: functional.max_pool2d(functional.pad(x, widths, value=filler), 3, 1)
    return lambda x: functional.pad(x, widths, value=filler)


def _layout(draw, value, layers):
    layout = draw.choice([torch.channels_last, torch.contiguous_format])
    return lambda x: x.contiguous(memory_format=layout)


def _move(draw, value, layers):
    rank = value.dim()
    dims = draw.sample(range(rank), rank)
    moves = [
        lambda x: x.permute(dims),
        lambda x: x.flatten(1),
        lambda x: x.reshape(-1, x.shape[-1]),
        lambda x: x[:, : max(1, x.shape[1] // 2)],
        lambda x: x[..., ::2],
        lambda x: x.unsqueeze(0).permute([d + 1 for d in dims] + [0]).reshape(x.shape),
        lambda x: x.select(-1, 0),
    ]
    return draw.choice(moves)


def _mean(draw, value, layers):
    if draw.random() < 0.2:
        return lambda x: (x - 0.1) * x.mean()
    dims = draw.sample(range(value.dim()), draw.randrange(1, value.dim() + 1))
    is_kept = draw.random() < 0.7
    return lambda x: x.mean(dims, keepdim=is_kept)


def _joined(draw, value, layers):
    dim, name = draw.randrange(value.dim()), draw.choice(["cat", "add", "mul"])
    if name == "cat":
        return lambda x: torch.cat([torch.relu(x), x], dim)
    if name == "add":
        return lambda x: x + torch.relu(x).mean(dim, keepdim=True)
    return lambda x: x * torch.sigmoid(x.mean(dim, keepdim=True))


def _softmax(draw, value, layers):
    dim = draw.randrange(value.dim())
    return lambda x: x.softmax(dim)


def _attention(draw, value, layers):
    query = _kept(layers, torch.nn.Linear(value.shape[-1], value.shape[-1]))
    is_causal, is_shared = draw.random() < 0.5, draw.random() < 0.3
    if is_shared:  # one matrix for all
        return lambda x: query(x) @ torch.relu(x)[:1].transpose(1, 2)
    attend = functional.scaled_dot_product_attention
    return lambda x: attend(query(x), x, torch.relu(x), is_causal=is_causal)
