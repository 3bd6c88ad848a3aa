"""Caches PyTorch lookups to speed up the lowering of small programs; the output is unchanged.

To lower one operator, torch takes about as long as to enumerate all its other operators.
"""

import contextlib
import copy
import functools
import importlib.util
import sys
import typing
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any

_ONNX_FUNCTIONS = "torch.onnx._internal.exporter._registration"
_QNN_SETUP = "executorch.backends.qualcomm.utils.qnn_sdk_setup"


def prepare_torch() -> None:
    """Installs all caches; call it once, after torch and the packages that register operators."""
    _prepare(_cache_composite_operators)
    _prepare(_cache_annotations)
    _prepare(_cache_overridden_kernels)
    if importlib.util.find_spec("executorch") is not None:
        _prepare(_skip_fusion_without_batch_norm)


def prepare_imported(modules: Iterable[str]) -> None:
    """Installs the caches that belong to modules which were just imported."""
    if _ONNX_FUNCTIONS in modules:
        _prepare(_cache_onnx_functions)
    if _QNN_SETUP in modules:
        _prepare(_cache_processor_vendor)


def _prepare(install: Callable[[], None]) -> None:
    """Installs one cache; a torch without the patched function stays uncached."""
    try:
        install()
    except (AttributeError, ImportError) as error:
        print(f"assay: torch lookups are not cached: {install.__name__}: {error}", file=sys.stderr)


def _cache_processor_vendor() -> None:
    """Reads the processor's vendor, which QNN's Python side asks for once in each process.

    Reading takes a second of computing, as long as a small program takes to lower.
    """
    from executorch.backends.qualcomm.utils import qnn_sdk_setup

    qnn_sdk_setup._host_is_amd()


def _cache_composite_operators() -> None:
    """Searches for composite operators again only after new operators were registered.

    Every decomposition does it, about five times for a program: torch cannot keep the answer, as
    operators may come at any time.
    """
    import torch
    from torch._export import utils
    from torch.export import decomp_utils, exported_program

    search = utils._collect_all_valid_cia_ops
    registered: list[str] = []
    operators: set[torch._ops.OperatorBase] = set()

    def remembered() -> set[torch._ops.OperatorBase]:
        nonlocal registered, operators
        current = torch._C._dispatch_get_registrations_for_dispatch_key("CompositeImplicitAutograd")
        if current != registered:
            registered, operators = current, search()
        return operators

    for module in (utils, decomp_utils, exported_program):
        setattr(module, search.__name__, remembered)


def _cache_annotations() -> None:
    """Uses typing.Callable, which is cached, in the annotations of torch's kernel registration.

    A decomposition registers hundreds of kernels for a while, and each makes Callable[...] anew.
    """
    import torch._ops

    setattr(torch._ops, "Callable", typing.Callable)  # noqa: B010


def _cache_overridden_kernels() -> None:
    """Makes the kernels that keep composite operators whole once, not for each decomposition.

    A program has four of those, and each registers six thousand. What is remembered holds for the
    same operators, decomposed in the same way, in the same state.
    """
    from torch._subclasses import fake_impls
    from torch.export import exported_program

    override = exported_program._override_composite_implicit_decomp
    fakes = fake_impls.op_implementations_dict
    remembered: dict[Hashable, tuple[list[Any], list[Any]]] = {}

    def state(operators: Iterable[Any]) -> list[Any]:
        return [(op, op.py_kernels.copy(), fakes.get(op)) for op in operators]

    @contextlib.contextmanager
    def overridden(decompositions: dict[Any, Any]) -> Iterator[None]:
        key = tuple((op, _identity(way)) for op, way in decompositions.items())
        before = state(decompositions)
        known = remembered.get(key)
        if known is None or known[0] != before:
            with override(decompositions):
                remembered[key] = before, state(decompositions)
                yield
            return
        try:
            for op, kernels, fake in known[1]:
                _set_kernels(op, kernels)
                fakes.update({op: fake} if fake is not None else {})
            yield
        finally:
            for op, kernels, _ in before:
                _set_kernels(op, kernels)
                fake_impls._deregister_op_impl(op)

    exported_program._override_composite_implicit_decomp = overridden


def _identity(decomposition: Any) -> Hashable:
    """A key that two functions share if they decompose in the same way.

    Torch's own are made anew for each table, from one function and the operator.
    """
    if not isinstance(decomposition, functools.partial):
        return typing.cast(Hashable, decomposition)
    keywords = tuple(sorted(decomposition.keywords.items()))
    return decomposition.func.__code__, decomposition.args, keywords


def _set_kernels(op: Any, kernels: dict[Any, Any]) -> None:
    op.py_kernels.clear()
    op.py_kernels.update(kernels)
    op._dispatch_cache.clear()


def _cache_onnx_functions() -> None:
    """Reads the sources of the ONNX exporter's five hundred functions once, not for each export.

    Each registry is a copy: an export may add functions of its own.
    """
    from torch.onnx._constants import ONNX_DEFAULT_OPSET
    from torch.onnx._internal.exporter import _registration

    made = functools.cache(_registration.ONNXRegistry.from_torchlib)
    made(opset_version=ONNX_DEFAULT_OPSET)

    def from_torchlib(**opset: int) -> Any:
        registry = copy.copy(made(**opset))
        functions = registry.functions.items()
        registry.functions = {target: list(known) for target, known in functions}
        return registry

    _registration.ONNXRegistry.from_torchlib = staticmethod(from_torchlib)


def _skip_fusion_without_batch_norm() -> None:
    """Skips the search for fused batch norms in programs without a batch norm.

    It exports twelve patterns for each program that it annotates, nine tenths of its time.
    """
    from executorch.backends.xnnpack.quantizer import xnnpack_quantizer_utils as utils

    annotate = utils._do_annotate_conv_bn

    def annotate_where_any(gm: Any, *args: Any, **kwargs: Any) -> Any:
        return annotate(gm, *args, **kwargs) if _has_batch_norm(gm) else []

    utils._do_annotate_conv_bn = annotate_where_any


def _has_batch_norm(gm: Any) -> bool:
    return any("batch_norm" in str(node.target) for node in gm.graph.nodes)
