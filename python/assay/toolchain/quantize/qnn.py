"""The quantizer of ExecuTorch's QNN backend."""

from typing import Any

from assay.toolchain import qnn_sdk
from assay.toolchain.errors import RequestError
from assay.toolchain.suggest import check_keys, unknown_name

NAME = "qnn"
_DTYPES = ("8a8w", "8a4w", "16a16w", "16a8w", "16a4w", "16a4w_block")
_OPTIONS = ("dtype", "soc", "is_linear_per_channel")


def make_quantizer(options: dict[str, Any]) -> Any:
    """A QnnQuantizer.

    `dtype`: bits of activations and weights, "8a8w"; `soc`: what it is for, "SM8650";
    `is_linear_per_channel`: weights of linear layers per channel as those of convolutions are.

    Raises:
        RequestError: an unknown option, dtype or SoC.
        MissingDependency: QNN's libraries are not here.
    """
    check_keys("option of the qnn quantizer", options, _OPTIONS)
    dtype = str(options.get("dtype", "8a8w"))
    if dtype not in _DTYPES:
        raise RequestError(unknown_name("dtype of the qnn quantizer", dtype, _DTYPES))
    qnn_sdk.load_libraries()
    from executorch.backends.qualcomm.quantizer.quantizer import QnnQuantizer, QuantDtype

    soc = qnn_sdk.find_soc(str(options.get("soc", qnn_sdk.DEFAULT_SOC)))
    quantizer = QnnQuantizer(soc_model=soc)
    quantizer.set_default_quant_config(
        QuantDtype[f"use_{dtype}"],
        is_conv_per_channel=True,
        is_linear_per_channel=bool(options.get("is_linear_per_channel", False)),
    )
    return quantizer
