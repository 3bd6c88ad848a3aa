"""ONNX Runtime's own profile: a session that writes a trace, and the trace as a report."""

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from assay.engines.base import Array
from assay.engines.profile import Run, Span, clock_ns, report_from_runs
from assay.toolchain.temporary import TemporaryFolder

WARM_UPS = 2
_NS_PER_US = 1000
_KERNEL = re.compile(r"_kernel_time$")
_WITH_BODIES = ("Loop", "If", "Scan")


class Executable(Protocol):
    """A session with its bindings."""

    def bind(self, inputs: Sequence[Array]) -> None:
        """Binds inputs."""

    def execute(self) -> None:
        """Runs."""

    def fetch(self) -> Sequence[Array]:
        """Gives the outputs."""


class ProfiledSession:
    """A session that profiles from its making to its report.

    `make`: makes it, and its bindings, so that it writes its trace under the prefix.
    """

    def __init__(self, make: Callable[[Path], tuple[Any, Executable]]) -> None:
        self._folder = TemporaryFolder("onnxruntime")
        self._session, self._bound = make(self._folder.path / "profile")
        self._starts: list[int] = []
        self._warm_ups = 0

    def warm_up(self, inputs: Sequence[Array]) -> None:
        """Inferences that the report leaves out."""
        self._bound.bind(inputs)
        for _ in range(WARM_UPS):
            self._bound.execute()
        self._warm_ups = WARM_UPS

    def bind(self, inputs: Sequence[Array]) -> None:
        """Binds inputs."""
        self._bound.bind(inputs)

    def execute(self) -> None:
        """One inference that the report tells of."""
        self._starts.append(clock_ns())
        self._bound.execute()

    def fetch(self) -> Sequence[Array]:
        """The outputs."""
        return self._bound.fetch()

    def report(self, iterations: int) -> dict[str, Any]:
        """Ends the profile and reads it; the files are removed."""
        with self._folder:
            events = json.loads(Path(self._session.end_profiling()).read_text())
        runs = runs_from_events(events)[self._warm_ups :]
        placed = [place_run(run, start) for run, start in zip(runs, self._starts, strict=False)]
        notes = ["ONNX Runtime tells times in whole microseconds"]
        notes += fallback_notes(events)
        if len(runs) < len(self._starts):
            notes.append(
                f"ONNX Runtime's profiler was full after {len(runs)} of {len(self._starts)} "
                "inferences: profile fewer iterations"
            )
        return report_from_runs(placed, "model_run", notes)


def runs_from_events(events: Sequence[Mapping[str, Any]]) -> list[Run]:
    """The inferences of a trace in order, each with the outermost operators inside its time."""
    timed = [event for event in events if event.get("ph") == "X"]
    kernels = outermost_kernels(
        [e for e in timed if e.get("cat") == "Node" and _KERNEL.search(e["name"])]
    )
    whole = sorted(
        (e for e in timed if e.get("cat") == "Session" and e["name"] == "model_run"),
        key=lambda event: event["ts"],
    )
    begins = [kernel["ts"] for kernel in kernels]
    return [_run_from_event(run, kernels, begins) for run in whole]


def outermost_kernels(kernels: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Those that lie in no Loop, If or Scan of their thread, by time: its time contains theirs."""
    ends: dict[Any, float] = {}
    outermost = []
    for kernel in sorted(kernels, key=lambda event: (event["ts"], -event["dur"])):
        thread = kernel.get("tid")
        if kernel["ts"] < ends.get(thread, 0):
            continue
        outermost.append(kernel)
        if kernel.get("args", {}).get("op_name") in _WITH_BODIES:
            ends[thread] = kernel["ts"] + kernel["dur"]
    return outermost


def _run_from_event(
    run: Mapping[str, Any], kernels: Sequence[Mapping[str, Any]], begins: Sequence[float]
) -> Run:
    first = bisect_left(begins, run["ts"])
    behind = bisect_right(begins, run["ts"] + run["dur"])
    return Run(
        run["ts"] * _NS_PER_US,
        run["dur"] * _NS_PER_US,
        [
            Span(name_from_kernel(k), k["ts"] * _NS_PER_US, k["dur"] * _NS_PER_US)
            for k in kernels[first:behind]
        ],
    )


def name_from_kernel(kernel: Mapping[str, Any]) -> str:
    """The operator with its node: "Conv conv1"; with its provider unless that is the CPU's."""
    details = kernel.get("args", {})
    node = _KERNEL.sub("", kernel["name"])
    provider = details.get("provider", "").removesuffix("ExecutionProvider")
    where = "" if provider in ("", "CPU") else f" ({provider})"
    return f"{details.get('op_name', '')}{where} {node}".strip()


def place_run(run: Run, start_ns: int) -> Run:
    """The run at the time of the clock at which it was started."""
    shift = start_ns - run.start_ns
    operators = [Span(s.name, s.start_ns + shift, s.duration_ns) for s in run.operators]
    return Run(start_ns, run.duration_ns, operators)


def fallback_notes(events: Sequence[Mapping[str, Any]]) -> list[str]:
    """Counts the nodes that each provider ran, if there are several."""
    nodes: dict[str, set[str]] = {}
    for event in events:
        provider = event.get("args", {}).get("provider")
        if event.get("cat") == "Node" and provider:
            nodes.setdefault(provider, set()).add(event["name"])
    if len(nodes) < 2:
        return []
    counts = ", ".join(f"{len(names)} by {provider}" for provider, names in sorted(nodes.items()))
    return [f"nodes run: {counts}"]
