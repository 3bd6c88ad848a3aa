"""torch.profiler's events as a report."""

from collections.abc import Callable, Sequence
from typing import Any

from assay.engines.profile import Run, Span, clock_ns, report_from_runs

_NS_PER_US = 1000


class TorchProfile:
    """Profiles one inference at a time, so that the events of each are known."""

    def __init__(self, torch: Any) -> None:
        self._profiler = torch.profiler
        self._runs: list[Run] = []

    def run(self, call: Callable[..., Any], inputs: Sequence[Any]) -> Any:
        """Calls under the profiler and keeps what it saw."""
        activities = [self._profiler.ProfilerActivity.CPU]
        with self._profiler.profile(activities=activities) as profile:
            start = clock_ns()
            made = call(*inputs)
            duration = clock_ns() - start
        self._runs.append(Run(start, duration, spans_from_events(profile.events(), start)))
        return made

    def report(self) -> dict[str, Any]:
        """All inferences since the start."""
        notes = ["operators are those that the program calls; what they call in turn is in them"]
        return report_from_runs(self._runs, "forward", notes)


def spans_from_events(events: Sequence[Any], start_ns: int) -> list[Span]:
    """The outermost operators, the first of them at `start_ns`."""
    outermost = sorted(
        (event for event in events if event.cpu_parent is None),
        key=lambda event: event.time_range.start,
    )
    if not outermost:
        return []
    origin = outermost[0].time_range.start
    return [
        Span(
            event.name,
            start_ns + round((event.time_range.start - origin) * _NS_PER_US),
            round(event.time_range.elapsed_us() * _NS_PER_US),
        )
        for event in outermost
    ]
