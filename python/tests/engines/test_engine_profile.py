from assay.engines.onnxruntime.profile import fallback_notes, runs_from_events
from assay.engines.profile import Run, Span, report_from_runs


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
