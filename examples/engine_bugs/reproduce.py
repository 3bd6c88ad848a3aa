"""Writes, or runs, the script of a failure of bugs.toml, which needs torch and the engine only.

    python examples/engine_bugs/reproduce.py                 # lists the failures
    python examples/engine_bugs/reproduce.py NAME > NAME.py  # writes a script
    python examples/engine_bugs/reproduce.py --run NAME...   # runs scripts

To write a script takes Assay's package (PYTHONPATH=python, or an installed one), which knows how a
recipe lowers and runs a program.
"""

import argparse
import math
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tomllib

from assay.reduction.engines import EXPORT, Lines, lines_for
from assay.reduction.source import tuple_text
from assay.toolchain.recipes.recipes import recipe_from_json

TABLE = Path(__file__).with_name("bugs.toml")
WIDTH = 100

Bug = Mapping[str, Any]


def read_bugs() -> dict[str, Bug]:
    """The failures by name, each with the versions in which it was seen."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    versions = table["versions"]
    return {
        name: {"versions": versions[bug["recipe"]], **bug} for name, bug in table["bugs"].items()
    }


def script_of(bug: Bug) -> str:
    """The script; its exit code is 0 if the failure is there."""
    body = [bug["script"]] if "script" in bug else _body(bug)
    return "\n".join([*_head(bug), *body]).rstrip() + "\n"


def _head(bug: Bug) -> list[str]:
    """The docstring: what is wrong, where, what was seen, and with which versions."""
    where = f"{bug['case']} on {bug['recipe']}" if "case" in bug else bug["recipe"]
    parts = [bug["fault"], f"{where}: {bug['versions']}."]
    if "found" in bug:
        parts.append(f"The engine: {bug['found']}")
    parts.append("The exit code is 0 if the failure is there.")
    text = "\n\n".join(_folded(part) for part in parts)
    return [f'r"""{text}', '"""', ""]


def _folded(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), WIDTH - 4, break_on_hyphens=False)


def _body(bug: Bug) -> list[str]:
    plan = recipe_from_json(bug["recipe"])
    lines = lines_for(plan.quantization, plan.document.get("lowering") or {})
    steps = _steps(bug, lines)
    is_own_process = any("subprocess." in step for step in steps)
    imports = {*lines.imports, "import torch"}
    return [
        *(["import subprocess"] if is_own_process else []),
        "import sys",
        "",
        *sorted(imports, key=lambda line: (line.startswith("from"), line)),
        "",
        "",
        *_net(bug),
        "",
        "",
        "torch.manual_seed(0)",
        "net = Net().eval()",
        *_tensors("inputs", bug["inputs"].values()),
        *_example(bug),
        *steps,
    ]


def _net(bug: Bug) -> list[str]:
    weights = bug.get("weights", {})
    buffers = [f'self.register_buffer("{name}", {_tensor(of)})' for name, of in weights.items()]
    made = ["    def __init__(self):", "        super().__init__()"]
    *statements, result = [bug["net"]] if isinstance(bug["net"], str) else bug["net"]
    return [
        "class Net(torch.nn.Module):",
        *([*made, *(f"        {line}" for line in buffers), ""] if weights else []),
        f"    def forward(self, {', '.join(bug['inputs'])}):",
        *(f"        {line}" for line in statements),
        f"        return {result}",
    ]


def _tensor(of: Mapping[str, Any]) -> str:
    """The expression of { DTYPE = elements } or { DTYPE = "randn", shape = [...] }."""
    dtype, value = next((key, value) for key, value in of.items() if key != "shape")
    if isinstance(value, str):
        return f"torch.{value}({of['shape']}, dtype=torch.{dtype})"
    return f"torch.tensor({_numbers(value)}, dtype=torch.{dtype})"


def _numbers(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_numbers(one) for one in value)}]"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)


def _tensors(name: str, tensors: Any) -> list[str]:
    texts = [_tensor(one) for one in tensors]
    whole = f"{name} = {tuple_text(texts)}"
    return [whole] if len(whole) <= WIDTH else [f"{name} = (", *(f"    {t}," for t in texts), ")"]


def _example(bug: Bug) -> list[str]:
    """The tensors that the program is made from where it runs on others."""
    if "example" not in bug:
        return []
    example = _tensors("example", bug["example"].values())
    if "open" not in bug:
        return example
    place, least, most = (bug["open"][key] for key in ("dimension", "min", "max"))
    return [*example, f'shapes = ({{{place}: torch.export.Dim("size", min={least}, max={most})}},)']


def _export(bug: Bug) -> str:
    if "example" not in bug:
        return EXPORT
    return f"torch.export.export(net, example{', dynamic_shapes=shapes' if 'open' in bug else ''})"


def _steps(bug: Bug, lines: Lines) -> list[str]:
    """From `net` and `inputs` to an exit code, by what the table says the engine does."""
    make = [f"exported = {_export(bug)}", *lines.lower]
    steps = [*lines.quantize, *make, *lines.run]
    if "judge" in bug:
        steps += bug["judge"].splitlines()
    if "dies" in bug:
        return _in_own_process(steps, may_answer="judge" in bug)
    if "error" in bug:
        return [*lines.quantize, *_attempt([*make, *lines.run], bug["error"])]
    if "expected" in bug:
        return [*lines.quantize, *make, *_comparison(bug, lines)]
    return [*_REFUSED_BY_EAGER, *steps, 'print("found", [one.tolist() for one in found])']


_REFUSED_BY_EAGER = [
    "try:",
    "    net(*inputs)",
    "    sys.exit(1)",
    "except IndexError as error:",
    '    print("eager:", error)',
]


def _in_own_process(steps: Sequence[str], *, may_answer: bool) -> list[str]:
    """Puts the steps in a process that dies, or, where it `may_answer`, tells a wrong answer."""
    return [
        'if "--run" not in sys.argv:',
        '    ran = subprocess.run([sys.executable, __file__, "--run"], timeout=600)',
        '    print("ended with", ran.returncode)',
        f"    sys.exit(0 if ran.returncode {'<=' if may_answer else '<'} 0 else 1)",
        *steps,
    ]


def _attempt(steps: Sequence[str], mark: str) -> list[str]:
    """An error whose text has the mark; ExecuTorch ends its messages with a number."""
    told = '" ".join(str(error).split())'
    shown = f"{mark!r} in {told}"
    if mark.startswith("0x"):
        shown = f'str(error).replace("0x:", "0x").endswith("{mark}")'
    return [
        "try:",
        *(f"    {line}" for line in steps),
        "except Exception as error:",
        '    print(f"{type(error).__name__}: {error}")',
        f"    sys.exit(0 if {shown} else 1)",
        "sys.exit(1)",
    ]


def _comparison(bug: Bug, lines: Lines) -> list[str]:
    """Answers are wrong if they are farther off than the limits; without limits, if they differ."""
    limits = bug.get("limits")
    zipped = "found, expected, limits" if limits else "found, expected"
    names = "one, wanted, limit" if limits else "one, wanted"
    compare = [
        f"for {names} in zip({zipped}, strict=True):",
        '    print("found", one.tolist(), "expected", wanted.tolist())',
        "    right = (one == wanted) | (one.isnan() & wanted.isnan())",
        *(["    right |= (one.double() - wanted.double()).abs() <= limit"] if limits else []),
        "    wrong |= not bool(right.all())",
    ]
    # A tensor of another shape is wrong, whatever its elements are compared with.
    compare[2:2] = ["    if one.shape != wanted.shape:", "        sys.exit(0)"]
    *load, run = lines.run
    again = [f"for _ in range({bug.get('runs')}):", *(f"    {line}" for line in (run, *compare))]
    given = [{"float64": limit} for limit in limits or []]
    return [
        *(_tensors("limits", given) if limits else []),
        *_tensors("expected", bug["expected"]),
        *(load if "runs" in bug else lines.run),
        "wrong = False",
        *(again if "runs" in bug else compare),
        "sys.exit(0 if wrong else 1)",
    ]


def _run(name: str, bug: Bug) -> bool:
    """Runs the script and returns whether the failure is there."""
    with tempfile.TemporaryDirectory(prefix="engine-bug-") as folder:
        script = Path(folder, f"{name}.py")
        script.write_text(script_of(bug), encoding="utf-8")
        is_there = subprocess.run([sys.executable, str(script)]).returncode == 0
    print(f"{name}: {'there' if is_there else 'not there'}", flush=True)
    return is_there


def main() -> int:
    """Lists, writes or runs."""
    parser = argparse.ArgumentParser(description="Scripts of failures of engines.")
    parser.add_argument("--run", action="store_true", help="run the scripts; no name: all")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a table of bugs.toml")
    options = parser.parse_args()
    bugs = read_bugs()
    unknown = sorted(set(options.names) - set(bugs))
    if unknown:
        parser.error(f"no such failure: {', '.join(unknown)}; without a name, all are listed")
    if options.run:
        shown = [_run(name, bugs[name]) for name in options.names or bugs]
        return 0 if all(shown) else 1
    for name in options.names:
        print(script_of(bugs[name]), end="")
    for name in [] if options.names else bugs:
        print(f"{name}: {' '.join(bugs[name]['fault'].split())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
