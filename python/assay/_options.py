"""The flags of the verbs as keyword arguments, and as a command line.

A keyword is the flag with underscores. A flag that several values fill is plural here: `options`,
`dimensions`, `input_shapes`; `for_` is --for, a word that Python keeps for itself.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

from assay._errors import AssayError

Paths = str | Path | Sequence[str | Path]
Texts = str | Sequence[str]


class StoreOptions(TypedDict, total=False):
    """`store`: where results are kept; default: assay.db in $ASSAY_HOME."""

    store: str | Path


class ToolchainOptions(StoreOptions, total=False):
    """Options for making artifacts.

    `jobs`: artifacts made at a time. `plugin`: files with models, recipes, engines or metrics.
    `python`: the interpreter whose torch makes artifacts; default: this one. `trust`: .pt2 files
    may run the code that they hold.
    """

    jobs: int
    plugin: Paths
    python: str | Path
    trust: bool


class LaunchOptions(ToolchainOptions, total=False):
    """How runs are launched and noted.

    `label`: kept with the run. `launch_timeout`: with unit ("30s"). `library`: shared libraries
    with delegates or kernels. `memory_limit`: in bytes, or with unit ("500MB"). `rebuild`: makes
    artifacts again. `report`: files that get the report, too; their endings name the formats.
    `sandbox`: "on", "required" or "off"; default: on for commands and for libraries given by path.
    """

    label: Mapping[str, str]
    launch_timeout: str
    library: Paths
    memory_limit: int | str
    rebuild: bool
    report: Paths
    sandbox: str


class RunOptions(LaunchOptions, total=False):
    """Options of assay.run.

    `baseline`: the recipe that ratios refer to. `only`: part of a case's label or key.
    `resume`: the id of a run to go on with, or "latest".
    """

    baseline: str
    only: str
    resume: str


class ModelOptions(TypedDict, total=False):
    """Options that concern one model.

    `args`: of the model's factory. `dimensions`: sizes by name that a program leaves open.
    `engine`: with build if wanted ("executorch@mine"). `inputs`: a file or folder of them,
    "file.py:NAME", or "own". `input_shapes`: one for each input, (1, 3, 224, 224) or as
    text. `options`: of the engine, by name;
    a list of values makes a case of each. `recipe`: by name. `seed`: of random weights, and of the
    order of launches. `threads`: one number, or several for a case of each.
    """

    args: Mapping[str, Any]
    dimensions: Mapping[str, int]
    engine: Texts
    inputs: str | Path
    input_shapes: Sequence[Sequence[int] | str]
    options: Mapping[str, Any]
    recipe: Texts
    seed: int
    threads: int | Sequence[int]


class IterationOptions(TypedDict, total=False):
    """How a launch is timed.

    `iterations`: a count, or "auto". `scenario`: conditions by name, such as {"gap": "5ms"}; a list
    of values makes a case of each. `time_budget`: of a launch, with unit ("5s"). `warmup`: a count,
    or "auto".
    """

    iterations: int | str
    scenario: Mapping[str, Any]
    time_budget: str
    warmup: int | str


class TimingOptions(IterationOptions, total=False):
    """`launches`: processes, each one sample. `interval`: launches go on until it is so narrow."""

    interval: str
    launches: int


class CaseOptions(LaunchOptions, ModelOptions, total=False):
    """Options of measurements of one model that end with a report of cases."""

    baseline: str
    only: str


class BenchOptions(CaseOptions, TimingOptions, total=False):
    """Options of assay.bench.

    `leak_check`: also whether memory grows. `profile`: also times each operator. `require`: gates
    such as "steady_ns<=12ms".
    """

    leak_check: bool
    profile: bool
    require: Texts


class EvaluateOptions(CaseOptions, total=False):
    """Options of assay.evaluate.

    `against`: kinds of reference: "float32", "float64", "qdq", "file", "engine:NAME". `expected`: a
    file with the outputs that are expected of `inputs`. `parity`: random inputs, too. `require`:
    gates such as "sqnr_db>=30". `samples`: how many inputs to compare on.
    """

    against: Texts
    expected: str | Path
    parity: bool
    require: Texts
    samples: int


class AttributeOptions(CaseOptions, total=False):
    """`bundle`: a folder that gets the layer that is furthest off. `samples`: how many inputs."""

    bundle: str | Path
    samples: int


class CompareOptions(LaunchOptions, ModelOptions, IterationOptions, total=False):
    """Options of assay.compare.

    `budget`: of all pairs but the confirmation, with unit. `duet`: both sides at once, where that
    answers sooner. `matters`: the least change that matters, percent. `measure_identical`: measures
    two files of one content, too. `metric`: which decides. `most_pairs`: 10 to 80. `no_canary`,
    `no_pinning`: leave these out. `resume`: the id of a comparison that was stopped, or "latest".
    """

    budget: str
    duet: bool
    matters: float
    measure_identical: bool
    metric: str
    most_pairs: int
    no_canary: bool
    no_pinning: bool
    resume: str


class ProfileOptions(LaunchOptions, ModelOptions, TimingOptions, total=False):
    """Options of assay.profile.

    `callgrind`: also counts instructions. `layers`: the text lays the layers of all cases side by
    side. `profile_iterations`: inferences under the profiler. `top`: rows of the text. `trace`: a
    file for ui.perfetto.dev.
    """

    callgrind: bool
    layers: bool
    profile_iterations: int
    top: int
    trace: str | Path


class ConformOptions(LaunchOptions, total=False):
    """Options of assay.conform; docs/guide/conformance.md explains the words.

    `suite`: "operators" or "models". `tier`: "quick", "full" or "fuzz". `dtype`, `match`, `only`
    and `shard` narrow the cases; `count` and `seed` are of tier "fuzz"; `max_cases`: refuse to
    begin with more. `batch`: cases that share a program. `expand`: "full" or "pairwise" settings.
    `against_run`: the run to compare verdicts with. `changed_since`: a run whose passes hold where
    nothing has changed. `coverage`: lists how many cases each operator has, and runs none.
    `job_timeout`: of what is done ahead of time, with unit. `known`: a folder with the lists of
    known gaps, which `update_known` writes anew. `require_delegation`: "full", "partial" or "none".
    """

    against_run: str
    batch: int
    changed_since: str
    count: int
    coverage: bool
    dtype: Texts
    engine: Texts
    expand: str
    job_timeout: str
    known: str | Path
    match: Texts
    max_cases: int
    only: str
    options: Mapping[str, Any]
    recipe: Texts
    require_delegation: str
    resume: str
    seed: int
    shard: str
    suite: str
    threads: int | Sequence[int]
    tier: str
    update_known: bool


class ReduceOptions(ToolchainOptions, ModelOptions, total=False):
    """Options of assay.reduce; docs/guide/reduce.md explains `check`.

    `batch`: candidates made at a time. `budget`: with unit; then the smallest so far is it.
    `bundle`: a folder that gets the smallest case and a script without Assay. `match`: of a run,
    the operators or cases. `replay`: a file that keeps every verdict.
    """

    batch: int
    budget: str
    bundle: str | Path
    check: str
    launch_timeout: str
    library: Paths
    match: Texts
    replay: str | Path
    report: Paths


class CalibrateOptions(StoreOptions, total=False):
    """`for_`: how long pairs are launched, with unit ("30s")."""

    for_: str
    report: Paths


class ReportOptions(StoreOptions, total=False):
    """Options of assay.report.

    `accuracy`, `memory`: the text has these tables, too. `baseline`: the recipe that ratios refer
    to. `report`: files that get the report; their endings name the formats.
    """

    accuracy: bool
    baseline: str
    memory: bool
    report: Paths


class RunsOptions(StoreOptions, total=False):
    """`limit`: how many of the newest runs are listed."""

    limit: int


def check_names(options: Mapping[str, Any], allowed: Any) -> None:
    """Refuses options that the verb lacks, with the nearest name.

    Raises:
        UsageError: there is such an option.
    """
    names = sorted(allowed.__annotations__)
    for name in options:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(names)}"
            raise AssayError(f"unknown option '{name}'; {hint}", code="invalid_argument")


def flags_from_options(options: Mapping[str, Any]) -> list[str]:
    """The command line's flags; None and False are left out, a list is the flag once an entry."""
    flags: list[str] = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        flag, words = _WRITERS.get(name, (_flag_from_name(name), _words))
        flags += [flag] if value is True else [f"{flag}={word}" for word in words(value)]
    return flags


def flag_from_name(name: str) -> str:
    """The flag that a keyword stands for: "input_shapes" is --input-shape."""
    return _WRITERS[name][0] if name in _WRITERS else _flag_from_name(name)


def _flag_from_name(name: str) -> str:
    return f"--{name.rstrip('_').replace('_', '-')}"


def _words(value: Any) -> list[str]:
    return [str(one) for one in _listed(value)]


def _settings(value: Mapping[str, Any]) -> list[str]:
    """The words "name=value,value"; booleans are written in lower case."""
    return [f"{name}={','.join(map(_setting, _listed(one)))}" for name, one in value.items()]


def _setting(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _shapes(value: Sequence[Sequence[int] | str]) -> list[str]:
    return [one if isinstance(one, str) else ",".join(map(str, one)) for one in value]


def _document(value: Mapping[str, Any]) -> list[str]:
    return [json.dumps(dict(value))]


def _listed(value: Any) -> list[Any]:
    return [value] if isinstance(value, (str, int, float, Path)) else list(value)


_WRITERS: dict[str, tuple[str, Callable[[Any], list[str]]]] = {
    "args": ("--args", _document),
    "dimensions": ("--dimension", _settings),
    "input_shapes": ("--input-shape", _shapes),
    "label": ("--label", _settings),
    "options": ("--option", _settings),
    "scenario": ("--scenario", _settings),
}
"""Keywords that are written in a way of their own: their flags, and the words of a value."""
