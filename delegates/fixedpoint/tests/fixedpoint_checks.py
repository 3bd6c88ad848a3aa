"""Checks of any network: it converts, its delegates load and have the reference's bits."""

import numpy as np
import torch
from fixedpoint_running import check_every_tensor, run_in_process


def lower_any(model, example, batches=None, lowering=None, **quantizer):
    """A network in the edge dialect, whatever is left of it in floating point."""
    from fixedpoint.convert import convert, quantize

    quantized = quantize(model, example, batches or [example], **quantizer)
    return convert(quantized, **(lowering or {}))


def check_delegates(made, library):
    """Each delegate loads on each instruction set, with the bits of the reference."""
    programs = made.programs()
    draw = np.random.default_rng(1)
    for program, blob in programs:
        inputs = [_drawn(draw, program, index) for index in program.inputs]
        check_every_tensor(library, program, blob, inputs)
    return programs


def _drawn(draw, program, index):
    tensor = program.tensors[index]
    if tensor.dtype == "float32":
        return draw.standard_normal(tensor.logical_shape).astype(np.float32) * 2
    if tensor.dtype in ("int8", "int16"):
        info = np.iinfo(tensor.dtype)
        return draw.integers(info.min, info.max + 1, tensor.logical_shape).astype(tensor.dtype)
    return draw.integers(0, 2, tensor.logical_shape).astype(tensor.dtype)  # masks, first rows


def run_all(library_path, folder, networks):
    """Outputs of networks {name: (made, [inputs, ...])} in ExecuTorch's runtime, in one process."""
    import executorch.kernels.quantized  # noqa: F401  conversions beside the delegate

    for name, (made, calls) in networks.items():
        (folder / name).mkdir()
        (folder / name / "net.pte").write_bytes(made.edge.to_executorch().buffer)
        torch.save(list(calls), folder / name / "in.pt")
    run_in_process(library_path, folder, "run_calls", *(folder / name for name in networks))
    return {name: torch.load(folder / name / "out.pt") for name in networks}


def run_quantized(made, calls):
    """Outputs of the quantized graph in float32."""
    module = made.quantized.module()
    results = []
    for inputs in calls:
        with torch.no_grad():
            outputs = module(*inputs)
        results.append([outputs] if isinstance(outputs, torch.Tensor) else list(outputs))
    return results


def check_near(found, expected, bound=0.1):
    """Outputs are those of the quantized graph, but for steps of a rounding."""
    for one, other in zip(found, expected, strict=True):
        for x, y in zip(one, other, strict=True):
            assert x.shape == y.shape
            assert torch.isfinite(x.float()).all()
            largest = max(float(y.float().abs().max()), 1e-3)
            assert float((x.float() - y.float()).abs().max()) <= bound * largest
