"""Writes of a module to the inputs that it is given."""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from assay.toolchain.errors import RequestError


@contextmanager
def watching_inputs(module: torch.nn.Module) -> Iterator[set[int]]:
    """The places of the inputs that calls of the module write to."""
    written: set[int] = set()
    before: list[int] = []

    def note(_: Any, inputs: tuple[Any, ...]) -> None:
        before[:] = _versions(inputs)

    def compare(_: Any, inputs: tuple[Any, ...], __: Any) -> None:
        after = _versions(inputs)
        pairs = enumerate(zip(before, after, strict=False))
        written.update(place for place, (then, now) in pairs if then != now)

    hooks = module.register_forward_pre_hook(note), module.register_forward_hook(compare)
    try:
        yield written
    finally:
        for hook in hooks:
            hook.remove()


def copy_written_inputs(ref: str, module: torch.nn.Module, places: frozenset[int]) -> None:
    """Has the module work on copies of these inputs.

    A program would give what it writes to an input as one more output, or write to the memory of
    its caller, who passes the same input again.

    Raises:
        RequestError: an exported program, whose graph is as it is.
    """
    if isinstance(module, torch.fx.GraphModule):
        raise RequestError(
            f"{ref} writes to its inputs ({', '.join(map(str, sorted(places)))}), so every run of "
            "it would begin with others; export a module that copies them first (x = x.clone())"
        )
    kind = type(module)

    @functools.wraps(kind.forward)
    def forward(self: Any, *inputs: Any, **named: Any) -> Any:
        copied = [value.clone() if place in places else value for place, value in enumerate(inputs)]
        return kind.forward(self, *copied, **named)

    names = {"forward": forward, "__module__": kind.__module__, "__doc__": kind.__doc__}
    module.__class__ = type(kind.__name__, (kind,), names)


def _versions(inputs: tuple[Any, ...]) -> list[int]:
    """Counts of writes, by place; torch keeps them."""
    return [value._version if isinstance(value, torch.Tensor) else 0 for value in inputs]
