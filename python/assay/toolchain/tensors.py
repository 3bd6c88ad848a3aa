"""Samples as tuples of tensors, and the tensors among the outputs of a module."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

Sample = tuple[torch.Tensor, ...]


def tensor_from_array(array: npt.NDArray[np.generic]) -> torch.Tensor:
    """The array as a tensor, without a copy.

    NumPy's arrays without elements have strides of 0, which no tensor of torch's own has, and which
    ExecuTorch refuses to store.
    """
    tensor = torch.from_numpy(array)
    return tensor if tensor.numel() else torch.empty(tensor.shape, dtype=tensor.dtype)


def cast_sample(sample: Sequence[torch.Tensor], dtype: torch.dtype) -> Sample:
    """The sample with floating tensors as `dtype`."""
    return tuple(t.to(dtype) if t.is_floating_point() else t for t in sample)


def flatten_tensors(outputs: Any) -> list[torch.Tensor]:
    """The tensors in nested outputs, in order; anything else is left out."""
    leaves = torch.utils._pytree.tree_leaves(outputs)
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]


def run_module(module: Callable[..., Any], sample: Iterable[torch.Tensor]) -> list[torch.Tensor]:
    """The flat tensor outputs for one sample, without gradients.

    All are copies: a module may write to its inputs, and give out a buffer that it uses again.
    """
    with torch.no_grad():
        outputs = module(*(tensor.clone() for tensor in sample))
        return [output.detach().clone() for output in flatten_tensors(outputs)]


def find_output_names(module: Callable[..., Any], sample: Iterable[torch.Tensor]) -> list[str]:
    """The keys of a dict or the fields of a structure that holds each output, "" for the others.

    Nested ones are joined: "boxes.0".
    """
    with torch.no_grad():
        outputs = module(*(tensor.clone() for tensor in sample))
    leaves, _ = torch.utils._pytree.tree_flatten_with_path(outputs)
    return [_name_of_path(path) for path, leaf in leaves if isinstance(leaf, torch.Tensor)]


def _name_of_path(path: Sequence[Any]) -> str:
    """Joins a path to a name; a path of positions alone has none."""
    parts = [getattr(part, "key", getattr(part, "name", None)) for part in path]
    if all(part is None for part in parts):
        return ""
    places = [str(getattr(part, "idx", "")) for part in path]
    return ".".join(
        place if part is None else str(part) for part, place in zip(parts, places, strict=True)
    )


@contextmanager
def kept_buffers(module: torch.nn.Module) -> Iterator[None]:
    """Puts the buffers back that calls of the module change: its state begins anew afterwards.

    One that a call makes is gone afterwards, too.
    """
    kept = [(owner, dict(owner._buffers)) for owner in module.modules()]
    contents = [
        (buffer, buffer.detach().clone())
        for _, buffers in kept
        for buffer in buffers.values()
        if buffer is not None
    ]
    try:
        yield
    finally:
        with torch.no_grad():
            for buffer, content in contents:
                if not torch.equal(buffer, content):  # Nothing can be copied to an expanded one.
                    buffer.copy_(content)
        for owner, buffers in kept:
            owner._buffers.clear()
            owner._buffers.update(buffers)


def update_digest(digest: "hashlib._Hash", name: str, tensor: torch.Tensor) -> None:
    """Takes in name, dtype, shape and bytes of a tensor, or of the parts of a subclass."""
    if hasattr(tensor, "__tensor_flatten__"):  # As torchao's quantized weights.
        for part in tensor.__tensor_flatten__()[0]:
            update_digest(digest, f"{name}.{part}", getattr(tensor, part))
        return
    digest.update(f"{name} {tensor.dtype} {list(tensor.shape)}\n".encode())
    if tensor.numel():  # The stride of an empty one may be 0, which no view bears.
        flat = tensor.detach().cpu().contiguous().reshape(-1)
        digest.update(memoryview(flat.view(torch.uint8).numpy()))


def samples_sha256(samples: Iterable[Sample]) -> str:
    """Digest of all tensors of a set, in order."""
    digest = hashlib.sha256()
    for number, sample in enumerate(samples):
        for index, tensor in enumerate(sample):
            update_digest(digest, f"{number}.{index}", tensor)
    return digest.hexdigest()
