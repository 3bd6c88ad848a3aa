"""Checks of any network: it converts, its delegates load and have the reference's bits."""

import dataclasses

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


def run_each(library_path, folder, networks):
    """Like run_all, but in a process each: outputs, or why ExecuTorch refuses the network."""
    found = {}
    for name, network in networks.items():
        try:
            found |= run_all(library_path, folder, {name: network})
        except (AssertionError, RuntimeError) as error:
            found[name] = str(error)
    return found


def without_delegate(made):
    """The quantized network as a program of ExecuTorch's own kernels."""
    from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower

    config = EdgeCompileConfig(_check_ir_validity=False)
    edge = to_edge_transform_and_lower(made.quantized, compile_config=config)
    return dataclasses.replace(made, edge=edge, reasons={})


def check_where_executorch_runs(library_path, folder, networks, bound=None):
    """Networks run, with outputs near those of the quantized graphs, where they do without us.

    Kernels of ExecuTorch refuse layouts that its own passes choose, and its padding puts values of
    images that lie channels last in wrong places. So a network that fails has to fail without the
    delegate. Returns the names of those. No bound: outputs are not compared.
    """
    found = run_each(library_path, folder, networks)
    failed = {}
    for name, network in networks.items():
        if is_wrong(found[name], run_quantized(*network) if bound else None, bound):
            failed[name] = (without_delegate(network[0]), network[1])
    (folder / "without").mkdir()
    for name, plain in run_each(library_path, folder / "without", failed).items():
        assert is_limit(found[name], plain, bound), (
            f"network {name}, with the delegate:\n{found[name]}\nwithout:\n{plain}"
        )
    return list(failed)


def is_wrong(found, expected, bound):
    """True if a network was refused (its outputs are a text), or has other outputs."""
    if isinstance(found, str) or bound is None:
        return isinstance(found, str)
    try:
        check_near(found, expected, bound)
    except AssertionError:
        return True
    return False


def is_limit(found, plain, bound):
    """True if a network that failed, `found`, fails alike without the delegate, `plain`."""
    if isinstance(found, str):
        is_our_fault = "FixedPointBackend" in found or "exit code -" in found  # a signal
        return isinstance(plain, str) and not is_our_fault
    return not isinstance(plain, str) and not is_wrong(found, plain, bound)


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
