"""What has torch lower small programs faster and changes nothing that it makes.

Lowering one operator takes torch about as long as going through all the others that there are.
"""

import importlib.util
import typing
from typing import Any


def prepare_torch() -> None:
    """Does all of it, once, after torch and whatever brings operators were imported."""
    _remember_composite_operators()
    _remember_annotations()
    if importlib.util.find_spec("executorch") is not None:
        _look_for_batch_norms_first()


def _remember_composite_operators() -> None:
    """Looks for composite operators again only when operators were registered since.

    Every decomposition does it, about five times for a program: torch cannot keep the answer, as
    operators may come at any time.
    """
    import torch
    from torch._export import utils
    from torch.export import decomp_utils, exported_program

    search = utils._collect_all_valid_cia_ops
    registered: list[str] = []
    found: set[torch._ops.OperatorBase] = set()

    def remembered() -> set[torch._ops.OperatorBase]:
        nonlocal registered, found
        now = torch._C._dispatch_get_registrations_for_dispatch_key("CompositeImplicitAutograd")
        if now != registered:
            registered, found = now, search()
        return found

    for module in (utils, decomp_utils, exported_program):
        setattr(module, search.__name__, remembered)


def _remember_annotations() -> None:
    """Has annotations of torch's registration of kernels made by typing, which keeps them.

    A decomposition registers hundreds of kernels for a while, and each makes Callable[...] anew.
    """
    import torch._ops

    setattr(torch._ops, "Callable", typing.Callable)  # noqa: B010


def _look_for_batch_norms_first() -> None:
    """Has XNNPACK's quantizer look for convolutions with a batch norm where there is a batch norm.

    It exports twelve patterns for each program that it annotates, nine tenths of its time.
    """
    from executorch.backends.xnnpack.quantizer import xnnpack_quantizer_utils as utils

    annotate = utils._do_annotate_conv_bn

    def annotate_where_any(gm: Any, *args: Any, **kwargs: Any) -> Any:
        return annotate(gm, *args, **kwargs) if _has_batch_norm(gm) else []

    utils._do_annotate_conv_bn = annotate_where_any


def _has_batch_norm(gm: Any) -> bool:
    return any("batch_norm" in str(node.target) for node in gm.graph.nodes)
