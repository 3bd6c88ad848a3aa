"""The PT2E quantizers of ExecuTorch's Arm backend."""

from collections.abc import Mapping
from typing import Any

from assay.toolchain.errors import MissingDependency, RequestError
from assay.toolchain.separate_toolchains import find_separate_toolchain
from assay.toolchain.suggest import check_keys, unknown_name

NAME, CORTEX_M = "arm", "cortex_m"
OPTIONS = ("target", "activations", "is_per_channel")
"""`target`: what is quantized for: a TOSA specification (TOSA-1.0+INT), "vgf" or a configuration of
Ethos-U (ethos-u55-128)."""

ACTIVATIONS = ("int8", "int16")
"""Types of activations; weights are int8, biases int32 or int48."""


def make_quantizer(options: Mapping[str, Any]) -> Any:
    """The quantizer with symmetric weights for the whole graph.

    Raises:
        RequestError: an unknown option or value.
        MissingDependency: tosa-tools is not installed.
    """
    check_keys("option of the arm quantizer", options, OPTIONS)
    activations = options.get("activations", "int8")
    if activations not in ACTIVATIONS:
        raise RequestError(unknown_name("type of activations", str(activations), ACTIVATIONS))
    try:
        from executorch.backends.arm import quantizer as quantizers

        quantizer = _make_for(quantizers, str(options.get("target", "TOSA-1.0+INT")))
    except ImportError as error:
        way = find_separate_toolchain("tosa")
        raise MissingDependency(f"the arm quantizer: {error}; {way}") from error
    configuration = {
        "int8": quantizers.get_symmetric_quantization_config,
        "int16": quantizers.get_symmetric_a16w8_quantization_config,
    }[activations]
    return quantizer.set_global(configuration(is_per_channel=options.get("is_per_channel", True)))


def make_cortex_m_quantizer(options: Mapping[str, Any]) -> Any:
    """The quantizer for CMSIS-NN's kernels: int8, convolutions per channel.

    Raises:
        RequestError: it has no options.
        MissingDependency: tosa-tools is not installed.
    """
    check_keys("option of the cortex_m quantizer", options, ())
    try:
        from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer
    except ImportError as error:
        way = find_separate_toolchain("tosa")
        raise MissingDependency(f"the cortex_m quantizer: {error}; {way}") from error
    return CortexMQuantizer(use_explicit_layout=True)


def _make_for(quantizers: Any, target: str) -> Any:
    if target == "vgf":
        from executorch.backends.arm.vgf import VgfCompileSpec

        return quantizers.VgfQuantizer(VgfCompileSpec("TOSA-1.0+INT"))
    if target.startswith("ethos-u"):
        from executorch.backends.arm.ethosu import EthosUCompileSpec

        return quantizers.EthosUQuantizer(EthosUCompileSpec(target))
    from executorch.backends.arm.tosa import TosaSpecification

    try:
        specification = TosaSpecification.create_from_string(target)
    except ValueError as error:
        raise RequestError(
            f"no target '{target}' of the arm quantizer: take a TOSA specification such as "
            f"TOSA-1.0+INT, vgf, or ethos-u55-128: {error}"
        ) from error
    return quantizers.TOSAQuantizer(specification)
