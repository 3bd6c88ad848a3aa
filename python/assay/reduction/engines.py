"""Holds the lines of a script that lower and run a program without Assay, for each engine.

The calls are those of the lowering flows (assay.toolchain.flows). The lines use these variables:
`net` and `inputs` are given, `exported` and `program` are made from them, and `found` is the list
of outputs. If a program is made from other tensors than it runs on, `example` has the former.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.reduction import qnn

EXECUTORCH = "to_edge_transform_and_lower"

EXPORT = "torch.export.export(net, inputs)"
"""The call that exports a network with fixed sizes."""

CANNOT_RUN = 2
"""Exit code of a script whose program the runtime of the package cannot execute."""


class NotWritable(Exception):
    """There is no script for this; the text says why."""


@dataclass(frozen=True)
class Lines:
    """Parts of a script: imports, and the lines of each step."""

    imports: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    """Stands behind the imports."""
    quantize: tuple[str, ...] = ()
    lower: tuple[str, ...] = ()
    run: tuple[str, ...] = ()
    has_open_sizes: bool = True
    """True if these lines make programs of sizes that are left open."""
    nodes_left: tuple[str, ...] = ()
    """Makes `left`, the operators that no delegate took; empty: the engine has no such thing."""
    can_be_missing: str = ""
    """The backend without which the script ends with CANNOT_RUN; empty: the package has it."""


def lines_for(quantization: Mapping[str, Any] | None, lowering: Mapping[str, Any]) -> Lines:
    """The steps of a recipe.

    Raises:
        NotWritable: a flow, a partitioner or a quantization that scripts do not know.
    """
    flow = str(lowering.get("flow") or EXECUTORCH)
    if flow not in _ENGINES:
        raise NotWritable(f"scripts do not know the lowering flow {flow}")
    engine = _ENGINES[flow](lowering)
    imports, quantize = _quantization(quantization)
    known = dict.fromkeys((*engine.imports, *imports))
    return replace(engine, imports=tuple(known), quantize=quantize)


def _quantization(document: Mapping[str, Any] | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Imports and lines that make `net` the quantized one."""
    if document is None:
        return (), ()
    options = dict(document)
    flow = options.pop("flow", None)
    if flow == "cast":
        name = str(options["dtype"])
        return (), (f"net = net.to(torch.{name})",)
    quantizer = options.pop("quantizer", "xnnpack")
    if flow != "pt2e" or quantizer not in _QUANTIZERS:
        raise NotWritable(f"scripts do not know the quantization {flow} with {quantizer}")
    imports, made = _QUANTIZERS[quantizer](options)
    return (*imports, _PT2E), (
        *made,
        f"prepared = prepare_pt2e({EXPORT}.module(), quantizer)",
        "prepared(*inputs)  # calibration",
        "net = convert_pt2e(prepared)",
    )


_PT2E = "from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e"


def _xnnpack_quantizer(options: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    given = ", ".join(f"{key}={value!r}" for key, value in sorted(options.items()))
    imports = (
        "from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (\n"
        "    XNNPACKQuantizer,\n"
        "    get_symmetric_quantization_config,\n"
        ")",
    )
    return imports, (
        f"config = get_symmetric_quantization_config({given})",
        "quantizer = XNNPACKQuantizer().set_global(config)",
    )


def _qnn_quantizer(options: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return qnn.QUANTIZER_IMPORTS, qnn.quantizer_lines(options)


_QUANTIZERS: dict[str, Callable[[Mapping[str, Any]], tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "xnnpack": _xnnpack_quantizer,
    "qnn": _qnn_quantizer,
}
"""The imports of each quantizer, and the lines that make it."""


def _executorch(lowering: Mapping[str, Any]) -> Lines:
    name = lowering.get("partitioner")
    options = dict(lowering.get("options") or {})
    lines = Lines(
        (
            "from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower",
            "from executorch.runtime import Runtime",
        ),
        run=(
            'method = Runtime.get().load_program(program).load_method("forward")',
            "found = method.execute(inputs)",
        ),
        nodes_left=(
            'nodes = [n for n in edge.exported_program().graph.nodes if n.op == "call_function"]',
            'left = [n for n in nodes if "delegate" not in str(n) and "getitem" not in str(n)]',
        ),
    )
    if name == "qnn":
        _refuse_options(options, but=qnn.OPTIONS)
        lines = replace(lines, imports=(*qnn.IMPORTS, *lines.imports), setup=qnn.SETUP)
        return replace(lines, lower=(*qnn.lower_lines(options), _SERIALIZE))
    if name == "vulkan":
        lines = replace(lines, run=(*_VULKAN_MISSING, *lines.run), can_be_missing="VulkanBackend")
    imports, partitioner = _partitioner(name, options)
    return replace(
        lines,
        imports=(*imports, *lines.imports),
        lower=(
            "edge = to_edge_transform_and_lower(",
            "    exported,",
            f"    partitioner={partitioner},",
            "    compile_config=EdgeCompileConfig(_check_ir_validity=False),",
            ")",
            _SERIALIZE,
        ),
    )


_SERIALIZE = "program = edge.to_executorch().buffer"

_VULKAN_MISSING = (
    'if "VulkanBackend" not in Runtime.get().backend_registry.registered_backend_names:',
    "    folder = Path(__file__).parent",
    '    (folder / "repro.pte").write_bytes(program)',
    '    files = [folder / f"repro-input{number}.bin" for number in range(len(inputs))]',
    "    for file, tensor in zip(files, inputs, strict=True):",
    "        file.write_bytes(bytes(tensor.clone().untyped_storage()))",
    '    given = ",".join(map(str, files))',
    '    print("this runtime has no VulkanBackend; one with it executes it:", file=sys.stderr)',
    "    run = f\"executor_runner --model_path={folder / 'repro.pte'} --inputs={given}\"",
    "    print(run, file=sys.stderr)",
    f"    sys.exit({CANNOT_RUN})",
)
"""ExecuTorch's wheel lowers for Vulkan and has no runtime of it."""


def _partitioner(name: Any, options: dict[str, Any]) -> tuple[tuple[str, ...], str]:
    if name == "vulkan":
        return _VULKAN_IMPORTS, f"[VulkanPartitioner({options})]"
    _refuse_options(options)
    if name is None:
        return (), "None"
    if name not in _PARTITIONERS:
        raise NotWritable(f"scripts do not know the partitioner {name}")
    imports, made = _PARTITIONERS[name]
    return imports, f"[{made}]"


_VULKAN_IMPORTS = (
    "from pathlib import Path",
    "from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner",
)

_PARTITIONERS: dict[str, tuple[tuple[str, ...], str]] = {
    "xnnpack": (
        (
            "from executorch.backends.xnnpack.partition.xnnpack_partitioner "
            "import XnnpackPartitioner",
        ),
        "XnnpackPartitioner()",
    ),
    "openvino": (
        (
            "from executorch.backends.openvino.partitioner import OpenvinoPartitioner",
            "from executorch.exir.backend.backend_details import CompileSpec",
        ),
        'OpenvinoPartitioner([CompileSpec("device", b"CPU")])',
    ),
}
"""The imports of each partitioner, and the expression that makes it."""


def _onnxruntime(lowering: Mapping[str, Any]) -> Lines:
    _refuse_options(lowering.get("options") or {})
    return Lines(
        ("import onnxruntime",),
        lower=(
            "made = torch.onnx.export(exported, dynamo=True, verbose=False)",
            "program = made.model_proto.SerializeToString()",
        ),
        run=(
            'session = onnxruntime.InferenceSession(program, providers=["CPUExecutionProvider"])',
            "names = [one.name for one in session.get_inputs()]",
            "arrays = [tensor.numpy() for tensor in inputs]",
            "found = session.run(None, dict(zip(names, arrays, strict=True)))",
            "found = [torch.from_numpy(array) for array in found]",
        ),
    )


def _openvino(lowering: Mapping[str, Any]) -> Lines:
    _refuse_options(lowering.get("options") or {})
    return Lines(
        ("import openvino",),
        lower=(
            "shapes = [list(tensor.shape) for tensor in inputs]",
            "program = openvino.convert_model(exported, input=shapes)",
        ),
        run=(
            'options = {"INFERENCE_PRECISION_HINT": "f32"}',
            'compiled = openvino.compile_model(program, "CPU", options)',
            "results = compiled([tensor.numpy() for tensor in inputs])",
            "found = [torch.from_numpy(results[port]) for port in compiled.outputs]",
        ),
        has_open_sizes=False,
    )


def _litert(lowering: Mapping[str, Any]) -> Lines:
    _refuse_options(lowering.get("options") or {})
    return Lines(
        ("import litert_torch", "from ai_edge_litert.interpreter import Interpreter"),
        lower=(
            "made = litert_torch.convert(exported.module(), inputs, enable_x64=True)",
            "program = bytes(made.model_content())",
        ),
        run=(
            "interpreter = Interpreter(model_content=program, num_threads=1)",
            "interpreter.allocate_tensors()",
            "for detail, tensor in zip(interpreter.get_input_details(), inputs, strict=True):",
            '    interpreter.set_tensor(detail["index"], tensor.numpy())',
            "interpreter.invoke()",
            'places = [detail["index"] for detail in interpreter.get_output_details()]',
            "found = [torch.from_numpy(interpreter.get_tensor(place)) for place in places]",
        ),
        has_open_sizes=False,
    )


def _refuse_options(options: Mapping[str, Any], but: Sequence[str] = ()) -> None:
    unknown = sorted(set(options) - set(but))
    if unknown:
        raise NotWritable(f"scripts do not know the lowering options {', '.join(unknown)}")


_ENGINES: dict[str, Callable[[Mapping[str, Any]], Lines]] = {
    EXECUTORCH: _executorch,
    "onnx": _onnxruntime,
    "openvino": _openvino,
    "litert": _litert,
}
