"""Lowering for QNN, the backend of Qualcomm's HTP.

Its compiler validates every operator and compiles each partition, so its libraries take part.
"""

import contextlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from assay.toolchain import qnn_sdk
from assay.toolchain.errors import RequestError
from assay.toolchain.flows.executorch.preparation import Prepared
from assay.toolchain.suggest import unknown_name

if TYPE_CHECKING:
    import torch

PRECISIONS = ("quantized", "fp16")


def make_partitioner(options: dict[str, Any]) -> Any:
    """A QnnPartitioner for HTP.

    `soc`: "SM8650"; `precision`: "quantized" (all that a quantizer annotated) or "fp16".

    Raises:
        RequestError: an unknown SoC or precision.
        MissingDependency: QNN's libraries are not here.
    """
    precision = str(options.get("precision", PRECISIONS[0]))
    if precision not in PRECISIONS:
        raise RequestError(unknown_name("precision of qnn", precision, PRECISIONS))
    qnn_sdk.load_libraries()
    from executorch.backends.qualcomm.partition.qnn_partitioner import QnnPartitioner
    from executorch.backends.qualcomm.utils.utils import (
        generate_htp_compiler_spec,
        generate_qnn_executorch_compiler_spec,
    )

    specs = generate_qnn_executorch_compiler_spec(
        soc_model=qnn_sdk.find_soc(str(options.get("soc", qnn_sdk.DEFAULT_SOC))),
        backend_options=generate_htp_compiler_spec(use_fp16=precision == "fp16"),
    )
    return QnnPartitioner(specs)


@contextlib.contextmanager
def prepare(exported: "torch.export.ExportedProgram", partitioner: Any) -> Iterator[Prepared]:
    """Runs QNN's passes over the program, and keeps its compiler open meanwhile."""
    from executorch.backends.qualcomm._passes.qnn_pass_manager import get_qnn_pass_manager_cls
    from executorch.backends.qualcomm.utils.qnn_manager_lifecycle import QnnManagerContext

    specs = partitioner.compiler_specs_snapshot
    manager = get_qnn_pass_manager_cls(partitioner.backend)()
    with _keeps_mkldnn(), QnnManagerContext({"forward": specs}):
        program = manager.transform_for_export_pipeline(exported)
        passes = manager.get_to_edge_transform_passes(exported, compiler_specs=specs)
        yield Prepared(program, passes)


@contextlib.contextmanager
def _keeps_mkldnn() -> Iterator[None]:
    """QNN's Python side switches torch's MKLDNN off on processors of AMD, for the whole process."""
    import torch

    is_enabled = torch.backends.mkldnn.enabled
    try:
        yield
    finally:
        torch.backends.mkldnn.enabled = is_enabled


def describe_refusal(message: str) -> tuple[str, str] | None:
    """The operator and the reason of a line that QNN's partitioner logs; None for other lines."""
    mark = "[QnnPartitioner] "
    operator, separator, verdict = message.removeprefix(mark).partition(" | ")
    if not message.startswith(mark) or not separator:
        return None
    return (operator, _REFUSALS[verdict]) if verdict in _REFUSALS else None


_REFUSALS: Mapping[str, str] = {
    "No node visitor, unsupported": "QNN has no form of this operator",
    "False": "QNN's compiler refuses this operator with these types, shapes or parameters",
    "Forced Fallback": "QNN's passes leave this operator out",
}
