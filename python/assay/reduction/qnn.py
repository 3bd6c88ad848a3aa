"""The lines of a script that quantize and lower for ExecuTorch's QNN backend.

They are those of assay.toolchain.flows.executorch.qnn and assay.toolchain.quantize.qnn. The wheel's
Python runtime has the backend; a script only opens QNN's libraries.
"""

from collections.abc import Mapping
from typing import Any

from assay.toolchain.qnn_sdk import DEFAULT_SOC

OPTIONS = ("soc", "precision")
"""Options of the lowering that `lower_lines` writes."""

_QUALCOMM = "from executorch.backends.qualcomm"

IMPORTS = (
    "import ctypes",
    "import importlib.util",
    "import os",
    "from pathlib import Path",
    f"{_QUALCOMM}._passes.qnn_pass_manager import get_qnn_pass_manager_cls",
    f"{_QUALCOMM}.partition.qnn_partitioner import QnnPartitioner",
    f"{_QUALCOMM}.serialization.qc_schema import QcomChipset",
    f"{_QUALCOMM}.utils.qnn_manager_lifecycle import QnnManagerContext",
    f"{_QUALCOMM}.utils.utils import (\n"
    "    generate_htp_compiler_spec,\n"
    "    generate_qnn_executorch_compiler_spec,\n"
    ")",
)

SETUP = (
    "# QNN's libraries: those of an SDK, or of the package onnxruntime-qnn.",
    'sdk = os.environ.setdefault("QNN_SDK_ROOT", "")',
    'package = importlib.util.find_spec("onnxruntime_qnn")',
    'libraries = Path(sdk) / "lib/x86_64-linux-clang" if sdk else Path(package.origin).parent',
    'for library in ("libQnnSystem.so", "libQnnHtp.so", "libQnnIr.so"):',
    "    ctypes.CDLL(str(libraries / library))",
)
"""Stands behind all imports, because torch has to be loaded before QNN's libraries.

ExecuTorch downloads an SDK where the variable is not set.
"""


def lower_lines(options: Mapping[str, Any]) -> tuple[str, ...]:
    """The lines that make `edge` of `exported`."""
    is_fp16 = options.get("precision") == "fp16"
    return (
        "specs = generate_qnn_executorch_compiler_spec(",
        f"    soc_model=QcomChipset.{options.get('soc', DEFAULT_SOC)},",
        f"    backend_options=generate_htp_compiler_spec(use_fp16={is_fp16}),",
        ")",
        "partitioner = QnnPartitioner(specs)",
        "manager = get_qnn_pass_manager_cls(partitioner.backend)()",
        'with QnnManagerContext({"forward": specs}):',
        "    edge = to_edge_transform_and_lower(",
        "        manager.transform_for_export_pipeline(exported),",
        "        transform_passes=manager.get_to_edge_transform_passes(",
        "            exported, compiler_specs=specs",
        "        ),",
        "        partitioner=[partitioner],",
        "        compile_config=EdgeCompileConfig(_check_ir_validity=False),",
        "    )",
    )


QUANTIZER_IMPORTS = (f"{_QUALCOMM}.quantizer.quantizer import QnnQuantizer, QuantDtype",)


def quantizer_lines(options: Mapping[str, Any]) -> tuple[str, ...]:
    """The lines that make `quantizer`."""
    return (
        f"quantizer = QnnQuantizer(soc_model=QcomChipset.{options.get('soc', DEFAULT_SOC)})",
        "quantizer.set_default_quant_config(",
        f"    QuantDtype.use_{options.get('dtype', '8a8w')},",
        "    is_conv_per_channel=True,",
        f"    is_linear_per_channel={bool(options.get('is_linear_per_channel', False))},",
        ")",
    )
