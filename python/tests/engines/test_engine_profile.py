import json
import time
from types import SimpleNamespace

import pytest

from assay.engines.onnxruntime.profile import ProfiledSession, fallback_notes, runs_from_events
from assay.engines.profile import Run, Span, report_from_runs
from assay.engines.torch.profile import TorchProfile


def runs():
    return [
        Run(100, 50, [Span("a", 105, 10), Span("b", 120, 20)]),
        Run(200, 60, [Span("a", 205, 14), Span("b", 220, 22)]),
    ]


def test_operators_are_reduced_over_inferences():
    report = report_from_runs(runs(), "run")
    method, a, b = report["events"]
    assert (method["kind"], method["count"], method["median_ns"]) == ("method", 2, 50)
    assert (a["name"], a["instruction"], a["total_ns"], a["min_ns"]) == ("a", 0, 24, 10)
    assert (b["name"], b["count"], b["median_ns"]) == ("b", 2, 20)
    assert report["spans"][:2] == [[0, 0, 100, 50], [1, 0, 105, 10]]


def test_one_name_at_two_places_is_two_operators_unless_places_differ():
    twice = [Run(0, 9, [Span("a", 1, 2), Span("a", 4, 3)])]
    assert len(report_from_runs(twice, "run")["events"]) == 3
    other = [*twice, Run(10, 9, [Span("a", 11, 5)])]
    events = report_from_runs(other, "run")["events"]
    assert len(events) == 2
    assert (events[1]["instruction"], events[1]["total_ns"]) == (-1, 10)


def test_no_inference_gives_a_report_all_the_same():
    assert report_from_runs([], "run")["method_median_ns"] == 0


def node(name, ts, dur, provider="CPUExecutionProvider"):
    details = {"op_name": "Conv", "provider": provider}
    return {
        **{"cat": "Node", "ph": "X", "name": f"{name}_kernel_time"},
        **{"ts": ts, "dur": dur, "args": details},
    }


def test_a_trace_of_onnxruntime_is_cut_into_inferences():
    run = {"cat": "Session", "ph": "X", "name": "model_run"}
    trace = [
        {"cat": "Session", "ph": "X", "name": "session_initialization", "ts": 0, "dur": 9},
        node("conv1", 12, 3),
        node("conv2", 16, 2, "FooExecutionProvider"),
        {**run, "ts": 11, "dur": 9},
        {**run, "ts": 30, "dur": 8},
        node("conv1", 31, 4),
    ]
    first, second = runs_from_events(trace)
    assert [span.name for span in first.operators] == ["Conv conv1", "Conv (Foo) conv2"]
    assert (first.duration_ns, second.operators[0].duration_ns) == (9000, 4000)
    assert fallback_notes(trace) == [
        "nodes run: 1 by CPUExecutionProvider, 1 by FooExecutionProvider"
    ]


def kernel(operator, ts, dur, thread=1):
    made = node(operator, ts, dur)
    made["args"]["op_name"] = operator
    return {**made, "tid": thread}


def test_operators_in_the_body_of_a_loop_count_as_the_loop():
    run = {"cat": "Session", "ph": "X", "name": "model_run", "ts": 0, "dur": 100}
    body = [kernel("MatMul", 10 + 20 * i, 15) for i in range(4)]
    inner = [kernel("If", 26, 4), kernel("Add", 27, 2)]
    trace = [*body, *inner, kernel("Loop", 10, 80), kernel("Relu", 90, 0), kernel("Neg", 90, 9)]
    elsewhere = kernel("Cast", 20, 5, thread=2)
    (found,) = runs_from_events([run, elsewhere, *trace])
    names = [span.name.split()[0] for span in found.operators]
    assert sorted(names) == ["Cast", "Loop", "Neg", "Relu"]
    on_one_thread = sum(s.duration_ns for s in found.operators if s.name.split()[0] != "Cast")
    assert on_one_thread == 89_000 <= found.duration_ns


class Trace:
    """A session of ONNX Runtime that was profiled, and its bindings."""

    def __init__(self, prefix):
        self.file = prefix.with_suffix(".json")
        self.runs = 0
        self.limit = None

    def bind(self, inputs):
        pass

    def execute(self):
        self.runs += 1

    def fetch(self):
        return []

    def end_profiling(self):
        runs = [
            {"cat": "Session", "ph": "X", "name": "model_run", "ts": 5 * i, "dur": 3}
            for i in range(self.runs)
        ]
        self.file.write_text(json.dumps(runs[: self.limit]))
        return str(self.file)


def raw_ns():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)


@pytest.fixture
def drifted(monkeypatch):
    """The clock that NTP steers, as far from the other one as after a month."""
    monkeypatch.setattr(time, "monotonic_ns", lambda: raw_ns() + 10**11)
    monkeypatch.setattr(time, "perf_counter_ns", lambda: raw_ns() + 10**11)


def test_inferences_are_placed_on_the_clock_that_they_are_timed_by(drifted):
    traces = []

    def make(prefix):
        traces.append(Trace(prefix))
        return traces[0], traces[0]

    session = ProfiledSession(make)
    before = raw_ns()
    session.execute()
    session.execute()
    starts = [span[2] for span in session.report(2)["spans"]]
    assert before <= starts[0] < starts[1] <= raw_ns()


def test_a_trace_that_was_full_says_so():
    def make(prefix):
        trace = Trace(prefix)
        trace.limit = 1
        return trace, trace

    session = ProfiledSession(make)
    for _ in range(3):
        session.execute()
    assert any("full after 1 of 3" in note for note in session.report(3)["notes"])


class NoProfile:
    def __init__(self, activities):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def events(self):
        return []


def test_torch_is_placed_on_that_clock_too(drifted):
    profiler = SimpleNamespace(ProfilerActivity=SimpleNamespace(CPU=0), profile=NoProfile)
    profile = TorchProfile(SimpleNamespace(profiler=profiler))
    before = raw_ns()
    profile.run(lambda: None, [])
    ((_, _, start, duration),) = profile.report()["spans"]
    assert before <= start <= start + duration <= raw_ns()
