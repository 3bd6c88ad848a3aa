"""Scripts that show a failure without Assay: repro.py of a bundle.

The exit code is 0 only if the failure is there.
"""

import re
import sys
import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from assay.conformance.operator_module import OperatorModule
from assay.reduction.engines import CANNOT_RUN, EXPORT, Lines, NotWritable, lines_for
from assay.reduction.source import (
    Source,
    graph_from_call,
    tensor_text,
    tuple_text,
    wrapped,
    write_module,
)
from assay.toolchain.errors import without_cause
from assay.toolchain.graph.intermediate_outputs import get_graph
from assay.toolchain.identity import find_version
from assay.toolchain.models.loader import Families, load_model, model_spec_from_json
from assay.toolchain.recipes import recipes
from assay.toolchain.reference.files import BOUNDS, INPUTS, OUTPUTS
from assay.toolchain.tensors import Sample
from assay.toolchain.types import Model, Quantized

SCRIPT, TENSORS = "repro.py", "tensors.pt"
WIDTH = 100
RUNS = 20
"""Executions of a program whose answers change."""

LOOSE = 1e-3
"""Share of the largest expected magnitude that counts as wrong where no bounds are known."""

_WRONG = ("fail_numeric", "fail_nondeterministic")
_DEATHS = ("crashed", "timed_out", "out_of_memory")
_ERRORS = ("aot_error", "load_error", "run_error")
_PACKAGES = {"executorch": "executorch", "onnxruntime": "onnxruntime", "openvino": "openvino"}
_PACKAGES |= {"litert": "ai-edge-litert"}


@dataclass(frozen=True)
class Expected:
    """A sample, what is expected of it, and how far each element may be off (None: unknown).

    `is_refused`: eager refuses the sample, and so should the program; nothing else is expected.
    `is_of_own_graph`: the script's own quantized graph tells what is expected.
    """

    inputs: Sample
    outputs: Sample = ()
    limits: Sample | None = None
    is_refused: bool = False
    is_of_own_graph: bool = False


@dataclass(frozen=True)
class Finding:
    """A failure, as the reducer found it."""

    verdict: str
    stage: str
    text: str
    check: str


def write_script(
    *,
    model: Mapping[str, Any] | str,
    recipe: Mapping[str, Any] | str,
    finding: Finding,
    reference: str | None,
    name: str,
    folder: Path,
    families: Families,
) -> dict[str, Any]:
    """Writes repro.py, and the tensors that are too long for it, to `folder`.

    Returns:
        {file}, or {unavailable: why} where such a script cannot be written.
    """
    plan = recipes.recipe_from_json(recipe)
    made = load_model(model_spec_from_json(model), families)
    try:
        if finding.check.startswith("slower-than"):
            raise NotWritable("a script cannot time what Assay times")
        lowering = dict(plan.document.get("lowering") or {})
        lines = lines_for(plan.quantization, lowering)
        if has_open_sizes(made) and not lines.has_open_sizes:
            raise NotWritable("scripts for this engine know no sizes that are left open")
        expected = read_expected(made, reference, finding)
        steps = _steps(lines, finding, is_refused=expected.is_refused)
        if calibrates(lines) and not expected.is_refused:
            expected = replace(expected, outputs=(), is_of_own_graph=True)
        source = Source()
        body = _write(made, lines, expected, finding, source, steps)
    except NotWritable as error:
        return {"unavailable": str(error)}
    engine = str(plan.document.get("engine", "executorch"))
    head = _head(name, plan.name, engine, finding, lines)
    (folder / SCRIPT).write_text("\n".join([*head, *body]) + "\n", encoding="utf-8")
    if source.kept:
        torch.save(source.kept, folder / TENSORS)
    return {"file": SCRIPT}


def finding_from_json(document: Mapping[str, Any], check: str) -> Finding:
    """Reads what the reducer sends."""
    verdict, stage, text = (str(document.get(key) or "") for key in ("verdict", "stage", "text"))
    return Finding(verdict, stage, text, check)


def has_open_sizes(model: Model) -> bool:
    """True if the model leaves sizes of its inputs open."""
    return model.sampled is not None and any(model.sampled.dynamic)


def read_expected(model: Model, reference: str | None, finding: Finding) -> Expected:
    """The sample that failed, out of the folder of a reference; the model's example without one."""
    from safetensors.torch import load_file

    if reference is None:
        return Expected(model.example)

    def load(file: str) -> dict[str, torch.Tensor]:
        path = Path(reference) / file
        return load_file(str(path)) if path.exists() else {}

    def of_sample(tensors: Mapping[str, torch.Tensor], sample: int) -> Sample:
        names = [name for name in tensors if int(name.partition(".")[0]) == sample]
        return tuple(tensors[name] for name in sorted(names, key=lambda n: int(n.split(".")[1])))

    inputs, outputs = load(INPUTS), load(OUTPUTS)
    if is_refusal_missing(finding):
        answered = {name.partition(".")[0] for name in outputs}
        return Expected(of_sample(inputs, len(answered)), is_refused=True)
    match = re.search(r"sample (\d+)", finding.text)
    sample = int(match.group(1)) if match else 0
    limits = of_sample(load(BOUNDS), sample)
    return Expected(of_sample(inputs, sample), of_sample(outputs, sample), limits or None)


def is_refusal_missing(finding: Finding) -> bool:
    """True if the program answered what eager refuses."""
    return finding.verdict in _WRONG and finding.text.startswith("it refused nothing")


def _head(name: str, recipe: str, engine: str, finding: Finding, lines: Lines) -> list[str]:
    """The docstring: what is wrong, where, and with which versions."""
    first = finding.text.split("\n")[0].replace("\\", "/").replace('"""', "'''")
    package = _PACKAGES.get(engine, engine)
    versions = f"{package} {find_version(package)}, torch {find_version('torch')}"
    wrong = textwrap.wrap(f"{finding.verdict}: {first}", WIDTH - 4) or [finding.verdict]
    title = textwrap.wrap(f'"""{name} on {recipe}.', WIDTH - 4)
    codes = ["The exit code is 0 if the failure is there."]
    if lines.can_be_missing:
        codes.append(f"It is {CANNOT_RUN} if this runtime has no {lines.can_be_missing}.")
    return [*title, "", f"{versions}.", "", *wrong, "", *codes, '"""', ""]


def _steps(lines: Lines, finding: Finding, *, is_refused: bool) -> list[str]:
    """The lines from `net` and `inputs` to an exit code."""
    quantize = list(lines.quantize)
    make = [f"exported = {EXPORT}", *lines.lower]
    if finding.check == "not-delegated":
        if not lines.nodes_left:
            raise NotWritable("this engine has no delegates")
        left = ['print("not delegated:", left)', "sys.exit(0 if left else 1)"]
        return [*quantize, *make, *lines.nodes_left, *left]
    if is_refused:
        return [*_REFUSED_BY_EAGER, *quantize, *make, *lines.run, *_ANSWERED]
    if finding.verdict in _WRONG:
        own = _OWN_GRAPH if calibrates(lines) else []
        return [*quantize, *own, *make, *_comparison(lines, finding)]
    if finding.verdict in _ERRORS:
        return _attempt(quantize, [*make, *lines.run], finding)
    if finding.verdict in _DEATHS:
        return _death([*quantize, *make, *lines.run], finding)
    raise NotWritable(f"a script does not show the verdict {finding.verdict}")


def calibrates(lines: Lines) -> bool:
    """True if the script calibrates a quantized graph: on its one sample, unlike the reference."""
    return any("convert_pt2e" in line for line in lines.quantize)


_OWN_GRAPH = [
    "",
    "# This graph is calibrated on this sample alone, so it tells itself what is right.",
    "answers, nodes = net(*inputs), net.graph.output_node().args[0]",
    "expected = answers if isinstance(answers, (tuple, list)) else (answers,)",
    "nodes = nodes if isinstance(nodes, (tuple, list)) else (nodes,)",
    "limits = [",
    "    2.01 * node.args[1]  # Steps of the output; its own rounding, and one before it.",
    '    if "dequantize_per_tensor.default" in str(node.target)',
    "    else 2.01 / 127 * float(one.abs().max())",
    "    for node, one in zip(nodes, expected, strict=True)",
    "]",
    "",
]

_REFUSED_BY_EAGER = [
    "try:",
    "    net(*inputs)",
    "    sys.exit(1)",
    "except (IndexError, RuntimeError) as error:",
    '    print("eager:", error)',
]
_ANSWERED = [
    'print("found", [one.tolist() for one in found])  # Not reached where it is refused.',
    "sys.exit(0)",
]


def _comparison(lines: Lines, finding: Finding) -> list[str]:
    compare = [
        "for found_one, wanted, limit in zip(found, expected, limits, strict=True):",
        '    print("found", found_one.tolist(), "expected", wanted.tolist())',
        "    a, b = found_one.double(), wanted.double()",
        "    if a.shape != b.shape:",
        "        sys.exit(0)",
        "    right = (a == b) | (a.isnan() & b.isnan()) | ((a - b).abs() <= limit)",
        "    wrong |= not bool(right.all())",
    ]
    if finding.verdict == "fail_numeric":
        return [*lines.run, "wrong = False", *compare, "sys.exit(0 if wrong else 1)"]
    *load, run = lines.run
    return [
        *load,
        "wrong = False",
        f"for _ in range({RUNS}):",
        *(f"    {line}" for line in (run, *compare)),
        "sys.exit(0 if wrong else 1)",
    ]


def _attempt(quantize: Sequence[str], steps: Sequence[str], finding: Finding) -> list[str]:
    """An error whose text has a mark of the one that was found."""
    mark = find_mark(finding.text)
    told = '" ".join(str(error).split())'  # Where its lines end is nobody's word.
    shown = f'"{mark}" in {told}' if mark else "True"
    if mark.startswith("0x"):  # ExecuTorch ends its messages with it.
        shown = f'str(error).replace("0x:", "0x").endswith("{mark}")'
    inside = [*quantize, *steps] if finding.stage == "quantize" else steps
    before = [] if finding.stage == "quantize" else quantize
    return [
        *before,
        "try:",
        *(f"    {line}" for line in inside),
        "except Exception as error:",
        '    print(f"{type(error).__name__}: {error}")',
        f"    sys.exit(0 if {shown} else 1)",
        "sys.exit(1)",
    ]


def find_mark(text: str) -> str:
    """The part of an error's text that identifies it: ExecuTorch's code, or its sentence.

    Behind the first sentence may stand what is in another order each time.
    """
    code = re.search(r"\((0x[0-9a-f]+)\)", text)
    if code:
        return code.group(1)
    told = " ".join(without_cause(text.split("\n")[0]).split())
    told = re.sub(r"^sample \d+: ", "", told)
    sentence = re.sub(r"^(\w+|torch's exporter to ONNX) failed( at [\w.]+)?: (\w+: )?", "", told)
    words = re.split(r"[\d'\"\\:…]", sentence.split(". ")[0])
    return max(words, key=len, default="").strip()[:60]


def _death(steps: Sequence[str], finding: Finding) -> list[str]:
    """The steps in a process of their own, which dies or does not end."""
    is_hang = finding.verdict == "timed_out"
    limit = "timeout=60" if is_hang else "timeout=600"
    return [
        'if "--run" not in sys.argv:',
        "    try:",
        f'        ran = subprocess.run([sys.executable, __file__, "--run"], {limit})',
        "    except subprocess.TimeoutExpired:",
        f"        sys.exit({0 if is_hang else 1})",
        f"    sys.exit({'' if is_hang else '0 if ran.returncode < 0 else '}ran.returncode or 1)",
        *steps,
    ]


def _write(
    model: Model,
    lines: Lines,
    expected: Expected,
    finding: Finding,
    source: Source,
    steps: Sequence[str],
) -> list[str]:
    """Imports, the module, its inputs, and the steps."""
    needs_values = finding.verdict in _WRONG
    is_open = has_open_sizes(model)
    graph = _graph_to_write(model, finding)
    write_module(graph, source, needs_values=needs_values)
    given = _tuple("inputs", expected.inputs, "input", source, needs_values)
    if is_open or expected.is_refused:
        given += _example(model, source)
        steps = [step.replace(EXPORT, _export_of_example(is_open)) for step in steps]
    if needs_values and not expected.is_refused and not expected.is_of_own_graph:
        given += _tuple("expected", expected.outputs, "expected", source, True)
        given += _limits(expected, source)
    kept = [f'kept = torch.load(Path(__file__).with_name("{TENSORS}"))', ""] if source.kept else []
    imports = {*lines.imports, "import sys", "import torch"}
    if any("subprocess." in step for step in steps):
        imports.add("import subprocess")
    if source.kept:
        imports.add("from pathlib import Path")
    seed = [] if needs_values else ["torch.manual_seed(0)"]
    return [
        *_import_lines(imports),
        "",
        *lines.setup,
        *([""] if lines.setup else []),
        *kept,
        "",
        *source.lines,
        "",
        "",
        *seed,
        "net = Net().eval()",
        *given,
        *steps,
    ]


def _import_lines(imports: Collection[str]) -> list[str]:
    """The standard library's imports, an empty line, and the others."""
    in_order = sorted(imports, key=lambda line: (line.startswith("from"), line))
    standard = [line for line in in_order if _is_standard(line)]
    return [*standard, "", *(line for line in in_order if line not in standard)]


def _is_standard(line: str) -> bool:
    return line.split()[1].split(".")[0] in sys.stdlib_module_names


def _graph_to_write(model: Model, finding: Finding) -> torch.fx.GraphModule:
    """The exported graph; for a call that cannot be exported, the call as it is."""
    if finding.stage == "export":
        if not isinstance(model.module, OperatorModule):
            raise NotWritable("what cannot be exported has no graph that could be written")
        return graph_from_call(model.module)
    with torch.no_grad():
        graph = get_graph(model, Quantized(model.module, model.inputs, model.example))
    return _without_checks(graph)


def _example(model: Model, source: Source) -> list[str]:
    """The example inputs where the program runs on other tensors; `shapes` if sizes are open."""
    lines = _tuple("example", model.example, "example", source, False)
    if model.sampled is None or not has_open_sizes(model):
        return lines
    dimensions = {one.name: one for of in model.sampled.dynamic for one in of.values()}
    lines += [
        f'{name} = torch.export.Dim("{name}", min={one.least}, max={one.most})'
        for name, one in dimensions.items()
    ]
    places = [
        "{" + ", ".join(f"{place}: {one.name}" for place, one in of.items()) + "}"
        for of in model.sampled.dynamic
    ]
    return [*lines, f"shapes = {tuple_text(places)}"]


def _export_of_example(is_open: bool) -> str:
    shapes = ", dynamic_shapes=shapes" if is_open else ""
    return f"torch.export.export(net, example{shapes})"


def _without_checks(graph: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """The graph without the calls by which an exported program checks its inputs."""
    made = torch.fx.Graph()
    copies: dict[torch.fx.Node, torch.fx.Node] = {}
    for node in graph.graph.nodes:
        if node.op != "call_module" and "assert" not in str(node.target):
            copies[node] = made.node_copy(node, copies.__getitem__)
    return torch.fx.GraphModule(graph, made)


def _tuple(name: str, tensors: Sample, stem: str, source: Source, needs_values: bool) -> list[str]:
    texts = [
        tensor_text(tensor, f"{stem}{number}", source, needs_values=needs_values)
        for number, tensor in enumerate(tensors)
    ]
    whole = f"{name} = {tuple_text(texts)}"
    if len(whole) <= WIDTH:
        return [whole]
    return [f"{name} = (", *(line for text in texts for line in wrapped(f"    {text},")), ")"]


def _limits(expected: Expected, source: Source) -> list[str]:
    """The lines that say how far each output may be off."""
    if expected.limits is not None:
        return _tuple("limits", expected.limits, "limit", source, True)
    largest = [float(one.double().abs().max()) if one.numel() else 0.0 for one in expected.outputs]
    loose = [f"{LOOSE * value:.3g}" for value in largest]
    return [f"limits = [{', '.join(loose)}]  # a thousandth of the largest"]
