"""The flags of the verbs as keyword arguments; _flags.py writes them as flags.

A keyword is the flag with underscores. A flag that several values fill is plural here: `options`,
`dimensions`, `input_shapes`; `for_` is --for, a word that Python keeps for itself.
"""

from __future__ import annotations

import difflib
import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeVar

from assay._errors import AssayError
from assay._literals import SandboxMode

F = TypeVar("F", bound=Callable[..., Any])
Paths = str | Path | Sequence[str | Path]
Texts = str | Sequence[str]
Duration = str | float
"""Text with a unit, such as "30s" or "250ms", or a number of seconds."""


class StoreOptions(TypedDict, total=False):
    """`store`: the database that holds the results; default: assay.db in $ASSAY_HOME."""

    store: str | Path


class ToolchainOptions(StoreOptions, total=False):
    """Options for building artifacts.

    `jobs`: number of artifacts built in parallel. `plugin`: Python files with models and recipes.
    `python`: the interpreter whose torch builds artifacts; default: this one. `trust`: allows .pt2
    files to run code that they contain.
    """

    jobs: int
    plugin: Paths
    python: str | Path
    trust: bool


class LaunchOptions(ToolchainOptions, total=False):
    """Options of launches and of the stored run.

    `device`: name or address of a device; default: this machine. `job_timeout`: kills an
    ahead-of-time job after this long, such as "5min". `label`: labels to store with the run.
    `launch_timeout`: kills a runner after this long, such as "30s". `library`: shared
    libraries with delegates or kernels. `memory_limit`: kills a runner whose resident memory
    exceeds this size, such as "500MB". `rebuild`: builds artifacts again.
    `report`: further report files; their extensions name the formats. `sandbox`: isolates
    processes; default: on for commands, libraries given by path, .pt2 models and programs that the
    toolchain reads. `sensors`: how often the sensors of the device are read during timed launches,
    such as "250ms"; "off"; default: "auto".
    """

    device: str
    job_timeout: Duration
    label: Mapping[str, str]
    launch_timeout: Duration
    library: Paths
    memory_limit: str
    rebuild: bool
    report: Paths
    sandbox: SandboxMode
    sensors: Duration


class RunOptions(LaunchOptions, total=False):
    """Options of assay.run.

    `baseline`: the recipe that speedups refer to. `exclude_device`: devices to leave out of
    `device`, which may name several ("pi5,pi4", "all"). `executor`: a fleet that runs the cases
    (docs/guide/fleet.md). `only`: part of a case's label or key.
    `resume`: a stopped run to resume, by id or "latest".
    """

    baseline: str
    exclude_device: Texts
    executor: str
    only: str
    resume: str


class ModelOptions(TypedDict, total=False):
    """Options of one model.

    `args`: keyword arguments for the model factory. `dimensions`: sizes of the dimensions that a
    program leaves open, by name. `engine`: engine, optionally with a build ("executorch@mine").
    `inputs`: a file or folder with inputs, "file.py:NAME", or "model" for the samples of the model.
    `input_shapes`: one shape for each input, (1, 3, 224, 224) or text. `options`: engine options by
    name; a list of values makes several cases. `recipe`: recipes by name. `seed`: seed of the
    random weights and of the launch order. `threads`: one number, or several for several cases.
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
    """Options of the timing of a launch.

    `iterations`: a count, or "auto". `scenario`: conditions by name, such as {"gap": "5ms"}; a list
    of values makes several cases. `time_budget`: time limit of a launch, such as "5s". `warmup`: a
    count, or "auto".
    """

    iterations: int | str
    scenario: Mapping[str, Any]
    time_budget: Duration
    warmup: int | str


class TimingOptions(IterationOptions, total=False):
    """Options of the number of launches.

    `launches`: number of processes; each is one sample. `interval`: repeats launches until half
    the interval is at most this share of the median, such as "1%".
    """

    interval: str
    launches: int


class CaseOptions(LaunchOptions, ModelOptions, total=False):
    """Options of measurements of one model that end with a report of cases.

    `baseline`: the recipe that speedups refer to. `exclude_device`: devices to leave out of
    `device`, which may name several ("pi5,pi4", "all"). `executor`: a fleet that runs the cases
    (docs/guide/fleet.md). `only`: part of a case's label or key.
    """

    baseline: str
    exclude_device: Texts
    executor: str
    only: str


class BenchOptions(CaseOptions, TimingOptions, total=False):
    """Options of assay.bench.

    `leak_check`: checks whether memory grows. `profile`: times each operator in an additional pass.
    `require`: gates such as "steady_ns<=12ms".
    """

    leak_check: bool
    profile: bool
    require: Texts


class EvaluateOptions(CaseOptions, total=False):
    """Options of assay.evaluate.

    `against`: references: "float32", "float64", "qdq", "file", "engine:NAME". `expected`: a file
    with the expected outputs for `inputs`. `parity`: evaluates on random inputs, too. `require`:
    gates such as "sqnr_db>=30". `samples`: number of random samples to compare on.
    """

    against: Texts
    expected: str | Path
    parity: bool
    require: Texts
    samples: int


class AttributeOptions(CaseOptions, total=False):
    """Options of assay.attribute.

    `bundle`: folder to write the layer with the largest error to. `samples`: number of samples.
    """

    bundle: str | Path
    samples: int


class CompareOptions(LaunchOptions, ModelOptions, IterationOptions, total=False):
    """Options of assay.compare.

    `budget`: time limit for the pairs without the confirmation. `duet`: runs both sides at once
    where that decides sooner. `measure_identical`: measures files of equal content, too. `metric`:
    the metric that decides the verdict. `executor`: a fleet, one of whose devices measures both
    sides (docs/guide/fleet.md). `min_effect`: smallest change that matters, in percent.
    `most_pairs`: 10 to 80. `no_canary`, `no_pinning`: omits the canary or the pinning.
    `resume`: a stopped comparison to resume, by the id of its run or "latest".
    """

    budget: Duration
    duet: bool
    executor: str
    measure_identical: bool
    metric: str
    min_effect: float
    most_pairs: int
    no_canary: bool
    no_pinning: bool
    resume: str


class CompareRunsOptions(StoreOptions, total=False):
    """Options of assay.compare_runs.

    `metric`: the metric to compare the cases by. `report`: report files; their extensions name the
    formats.
    """

    metric: str
    report: Paths


class ProfileOptions(LaunchOptions, ModelOptions, TimingOptions, total=False):
    """Options of assay.profile.

    `callgrind`: counts instructions, too. `layers`: shows the layers of all cases side by side.
    `profile_iterations`: number of inferences under the profiler. `top`: number of rows to show.
    `trace`: file to write a trace for ui.perfetto.dev to.
    """

    callgrind: bool
    layers: bool
    profile_iterations: int
    top: int
    trace: str | Path


class ConformOptions(LaunchOptions, total=False):
    """Options of assay.conform; docs/guide/conformance.md explains the words.

    `suite`: the suite of cases. `tier`: how many of its cases. `dtype`, `match`, `only`
    and `shard` select cases; `count` and `seed` apply to tier "fuzz"; `max_cases`: refuses to start
    with more. `batch`: number of cases that share a program. `expand`: combinations
    of settings. `against_run`: run to compare verdicts with. `changed_since`: run
    whose passes are reused where nothing has changed.
    `known`: folder with the lists of known gaps, which `update_known` rewrites.
    `recipe`, `engine`, `options` and `threads`: as for assay.bench. `resume`: a stopped run to
    resume. `executor`: a fleet that judges the cases (docs/guide/fleet.md).
    `require_delegation`: minimum delegation for a case to pass.
    """

    against_run: str
    batch: int
    changed_since: str
    count: int
    dtype: Texts
    engine: Texts
    executor: str
    expand: Literal["full", "pairwise"]
    known: str | Path
    match: Texts
    max_cases: int
    only: str
    options: Mapping[str, Any]
    recipe: Texts
    require_delegation: Literal["full", "partial", "none"]
    resume: str
    seed: int
    shard: str
    suite: Literal["operators", "models"]
    threads: int | Sequence[int]
    tier: Literal["quick", "full", "fuzz"]
    update_known: bool


class CoverageOptions(StoreOptions, total=False):
    """Options of assay.coverage.

    `python`: the interpreter whose torch lists the operators; default: this one. `report`: report
    files; their extensions name the formats.
    """

    python: str | Path
    report: Paths


class ReductionOptions(ToolchainOptions, total=False):
    """Options of reductions; docs/guide/reduce.md explains `check`.

    `batch`: number of candidates built in parallel. `budget`: time limit of a reduction, such as
    "10min"; the smallest failing case found so far is kept. `check`: what counts as the same
    failure. `device`: name or address of a device. `launch_timeout`: kills a runner after this
    long. `library`: shared libraries with delegates or kernels. `report`: report files; their
    extensions name the formats. `sandbox`: isolates processes; default: on for libraries given by
    path and .pt2 models.
    """

    batch: int
    budget: Duration
    check: str
    device: str
    launch_timeout: Duration
    library: Paths
    report: Paths
    sandbox: SandboxMode


class ReduceOptions(ReductionOptions, ModelOptions, total=False):
    """Options of assay.reduce.

    `bundle`: folder to write the smallest case and a script that needs no Assay to. `replay`: a
    file that keeps every verdict.
    """

    bundle: str | Path
    replay: str | Path


class ReduceRunOptions(ReductionOptions, total=False):
    """Options of assay.reduce_run.

    `match`: reduces only the failures of these operators or cases. `recipe`: reduces only the
    failures of these recipes.
    """

    match: Texts
    recipe: Texts


class CalibrateOptions(StoreOptions, total=False):
    """Options of assay.calibrate.

    `device`: name or address of a device. `for_`: time to launch pairs for, such as "30s".
    `report`: report files; their extensions name the formats.
    """

    device: str
    for_: Duration
    report: Paths


class ReportOptions(StoreOptions, total=False):
    """Options of assay.report.

    `accuracy`, `memory`: adds these tables to the text. `baseline`: the recipe that speedups refer
    to. `report`: report files; their extensions name the formats.
    """

    accuracy: bool
    baseline: str
    memory: bool
    report: Paths


class ConformanceReportOptions(StoreOptions, total=False):
    """Options of assay.conformance_report.

    `report`: report files; their extensions name the formats.
    """

    report: Paths


class RunsOptions(StoreOptions, total=False):
    """Options of assay.runs.

    `label`: labels that the runs have, {"commit": "abc"}, or names of labels with any value.
    `limit`: how many of the newest runs are listed; -1: all. `model`: part of a model's name.
    `purpose`: a verb ("bench") or a purpose ("measure"). `report`: report files; their extensions
    name the formats.
    """

    label: Mapping[str, str] | Texts
    limit: int
    model: str
    purpose: str
    report: Paths


class HistoryOptions(StoreOptions, total=False):
    """Options of assay.history.

    `environment`: that of the repository file; default: its first. `from_`: a CSV file with the
    columns commit and value, instead of a repository file. `metric`: metrics to show. `min_effect`:
    percent; smaller changes do not count. `only`: part of a series' name and metric. `since`: the
    first commit to show.
    """

    environment: str
    from_: str | Path
    metric: Texts
    min_effect: float
    only: str
    since: str


SHARED_OPTIONS: tuple[Any, ...] = (
    StoreOptions,
    ToolchainOptions,
    LaunchOptions,
    ModelOptions,
    IterationOptions,
    TimingOptions,
    CaseOptions,
    ReductionOptions,
)
"""Groups of options that several verbs have."""


def explained(options: Any) -> Callable[[F], F]:
    """Adds what a verb's options mean to its docstring, for help(), from those of their classes."""
    names = options.__annotations__.keys()
    shared = [group for group in SHARED_OPTIONS if group.__annotations__.keys() <= names]
    classes = [*shared, options]

    def add(verb: F) -> F:
        texts = [inspect.cleandoc(group.__doc__).split(".\n\n", 1)[-1] for group in classes]
        text = textwrap.indent("\n".join(texts), "    ")
        verb.__doc__ = f"{inspect.cleandoc(verb.__doc__ or '')}\n\nOptions:\n{text}"
        return verb

    return add


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
