"""A runner whose answers cannot be true: one row for each lie, and the campaign goes on.

The fake engine changes its own answers on order (src/assay/engines/fake/lies.h). Whatever it
claims, the run is reported and resumed like any other, and nothing of the claim is stored.
"""

import contextlib
import json
import sqlite3
import struct
from dataclasses import dataclass
from typing import Any

import pytest
from driver import FAST_MEASURE, Document, Workplace, case_of

WARMUP, STEADY = 1, 4
COUNT = WARMUP + STEADY
MOST = 2**63 - 1
HOUR = 3_600_000_000_000


def samples(*execute: int) -> str:
    """The blob of a measurement, in hexadecimal: no time for bind and fetch."""
    nothing = (0,) * len(execute)
    return struct.pack(f"<{3 * len(execute)}q", *nothing, *execute, *nothing).hex()


def safetensors(header: Document, data: bytes = bytes(16)) -> str:
    text = json.dumps(header).encode()
    return (struct.pack("<Q", len(text)) + text + data).hex()


def vector(dtype: str = "F32", shape: tuple[int, ...] = (1, 4), end: int = 16) -> Document:
    return {"dtype": dtype, "shape": shape, "data_offsets": [0, end]}


@dataclass(frozen=True)
class Lie:
    """A claim of a runner, and the text that must answer it."""

    claim: str
    text: str  # Part of the sentence that people read.
    answer: str = "measure"
    change: dict[str, Any] | None = None
    blob: str | None = None
    copies: int = 1
    becomes: str | None = None
    outcome: str = "run_error"

    def as_order(self) -> Document:
        order: Document = {"answer": self.answer, "copies": self.copies, "body": self.change or {}}
        order |= {} if self.blob is None else {"blob_hex": self.blob}
        return order | ({} if self.becomes is None else {"type": self.becomes})

    def passes(self) -> list[str]:
        # A program by itself has no reference: it is timed, too, lest there be nothing to do.
        known = {"infer": ["timing", "evaluate"], "memory": ["memory"], "profile": ["profile"]}
        return known.get(self.answer, ["timing"])


MALFORMED = [
    # ---- load
    Lie("options_list", "effective_options is of the type array", "load",
        {"effective_options": []}, outcome="load_error"),
    Lie("load_time_negative", "stages[0].ns is -1", "load",
        {"stages": [{"name": "program", "ns": -1}]}, outcome="load_error"),
    Lie("load_time_an_hour", "stages[0].ns is 3600000000000", "load",
        {"stages": [{"name": "program", "ns": HOUR}]}, outcome="load_error"),
    Lie("load_long_name", "stages[0].name has 100000 bytes", "load",
        {"stages": [{"name": "x" * 100_000, "ns": 1}]}, outcome="load_error"),
    Lie("load_unknown_dtype", "malformed message", "load",
        {"outputs": [{"name": "y", "dtype": "float5", "shape": [1]}]}, outcome="load_error"),
    Lie("load_texts_of_numbers", "malformed message", "load", {"notes": [1, 2]},
        outcome="load_error"),
    # ---- who answers what
    Lie("load_twice", "load was answered twice", "load", copies=2),
    Lie("measure_twice", "measure was answered twice", copies=2),
    Lie("measure_never", "measure was not answered", copies=0),
    Lie("measure_as_infer", "the answer to measure is of type 17", becomes="infer"),
    Lie("unload_as_error_free_infer", "the answer to unload is of type 17", "unload",
        becomes="infer"),
    # ---- counts
    Lie("no_samples", "0 samples, where warmup_iterations 1 and iterations 4 make 5", blob=""),
    Lie("no_iterations", "iterations is 0", change={"iterations": 0},
        blob=""),
    Lie("all_warmup", "warmup_iterations is 1000000", change={"warmup_iterations": 1_000_000}),
    Lie("fewer_iterations", "iterations is 1, where 4 was asked for",
        change={"iterations": 1, "inferences": 2}, blob=samples(9000, 9000)),
    Lie("budget_not_spent", "stopped_by is time_budget after 3 of 4 iterations",
        change={"iterations": 3, "inferences": 4, "stopped_by": "time_budget"},
        blob=samples(9000, 9000, 9000, 9000)),
    Lie("stopped_by_nobody", "stopped_by is 'whim'", change={"stopped_by": "whim"}),
    Lie("samples_cut", "are not three equal columns", blob=samples(1, 2, 3)[:-2]),
    Lie("samples_of_another_count", "there are 2 samples", blob=samples(9000, 9000)),
    Lie("count_beyond_int", "iterations is 4294967300", change={"iterations": 2**32 + 4}),
    Lie("count_of_text", "malformed message", change={"iterations": "4"}),
    Lie("streams", "streams is 2, where 1 was asked for", change={"streams": 2}),
    # ---- times
    Lie("negative", "execute_ns is -1000", blob=samples(*[-1000] * COUNT)),
    Lie("all_nothing", "all 5 samples of execute_ns are 0", blob=samples(*[0] * COUNT)),
    Lie("most_of_int64", f"execute_ns is {MOST}", blob=samples(*[MOST] * COUNT)),
    Lie("an_hour_each", f"execute_ns is {HOUR}", blob=samples(*[HOUR] * COUNT)),
    Lie("an_hour_all_along", f"inferences_ns is {COUNT * HOUR}",
        change={"inferences_ns": COUNT * HOUR, "wall_ns": COUNT * HOUR},
        blob=samples(*[HOUR] * COUNT)),
    Lie("first_negative", "first.execute_ns is -1", change={"first": {"execute_ns": -1}}),
    Lie("first_an_hour", "first.execute_ns is 36", change={"first": {"execute_ns": HOUR}}),
    Lie("cpu_negative", "cpu_ns is -5", change={"cpu_ns": -5}),
    # ---- outputs
    Lie("outputs_nothing", "0 bytes are too few", "infer", blob=""),
    Lie("outputs_garbage", "not a valid safetensors", "infer", blob="ab" * 100),
    Lie("outputs_unknown_dtype", "has the dtype 'F8_E5M2'", "infer",
        blob=safetensors({"0.0": vector("F8_E5M2")})),
    Lie("outputs_gap", "no '0.0'", "infer", blob=safetensors({"0.1": vector()})),
    Lie("outputs_too_many", "'0.7', which was not requested", "infer",
        blob=safetensors({"0.0": vector(), "0.7": vector(end=0, shape=(0,)) | {
            "data_offsets": [16, 16]}})),
    Lie("outputs_of_other_size", "needs 20 bytes", "infer",
        blob=safetensors({"0.0": vector(shape=(1, 5))})),
    Lie("outputs_of_more_samples", "samples is 9", "infer", {"samples": 9}),
    Lie("outputs_differ_by_less_than_nothing", "differing_elements is -1", "infer",
        {"differing_elements": -1}),
    # ---- memory and profile
    Lie("memory_negative", "malformed message", "memory", {"stages": [{"rss_bytes": "much"}]}),
    Lie("memory_stages_gone", "0 stages", "memory", {"stages": []}),
    Lie("memory_inferences", "inferences is 3", "memory", {"inferences": 3}),
    Lie("profile_span_of_no_event", "spans[0].event is 7", "profile", {"spans": [[7, 0, 0, 1]]}),
    Lie("profile_span_cut", "malformed message", "profile", {"spans": [[7]]}),
    Lie("profile_an_hour", "method_median_ns is 36", "profile", {"method_median_ns": HOUR}),
    Lie("profile_events_gone", "spans[0].event is 0; ", "profile", {"events": []}),
]  # fmt: skip


@pytest.mark.parametrize("lie", MALFORMED, ids=lambda lie: lie.claim)
def test_a_lie_is_a_row_and_the_next_case_runs(place: Workplace, lie: Lie) -> None:
    liar = place.program("liar", lies=[lie.as_order()])
    honest = place.program("honest")
    measure = {**FAST_MEASURE, "warmup": WARMUP, "iterations": STEADY, "passes": lie.passes()}
    spec = place.spec(liar, honest, measure=measure, evaluate={"samples": 1})

    finished = place.run("run", spec, "--format", "json")

    assert finished.code == 1, finished
    row = case_of(finished.json(), "liar")
    assert (row["outcome"], row["reason_code"]) == (lie.outcome, "malformed_answer"), row["text"]
    assert lie.text in row["text"]
    assert row["verdict"] == "fail"
    assert case_of(finished.json(), "honest")["outcome"] == "completed"
    assert case_of(place.report(), "liar")["text"] == row["text"]
    assert place.run("run", "--resume", "latest").code == 1


def test_a_list_of_options_does_not_poison_the_store(place: Workplace) -> None:
    lies = [{"answer": "load", "body": {"effective_options": []}}]
    crash = {"at": "steady", "do": "segfault"}
    liar = place.program("liar", lies=lies, misbehave=crash)
    finished = place.run("run", place.spec(liar), "--format", "json")
    row = case_of(finished.json(), "liar")
    assert (row["outcome"], row["reason_code"]) == ("crashed", "SIGSEGV")
    assert place.query("select load from launch") == [(None,)]


def test_a_time_whose_launches_are_gone_is_no_pass(place: Workplace) -> None:
    measure = {**FAST_MEASURE, "launches": 3, "passes": ["timing"]}
    spec = place.spec(place.program("net"), measure=measure)
    assert place.run("run", spec).code in (0, 6)
    with contextlib.closing(sqlite3.connect(place.store)) as store, store:
        store.execute("delete from sample_block")
        store.execute("delete from launch")
    row = case_of(place.report(), "net")
    assert (row["timing"], row["verdict"]) == ("inconclusive", "inconclusive")
    assert any("not in the store" in note for note in row["notes"])


def test_a_launch_whose_samples_are_gone_is_told_as_damaged(place: Workplace) -> None:
    spec = place.spec(place.program("net"), measure={**FAST_MEASURE, "passes": ["timing"]})
    assert place.run("run", spec).code in (0, 6)
    with contextlib.closing(sqlite3.connect(place.store)) as store, store:
        store.execute("delete from sample_block")
    finished = place.run("report", "latest")
    assert finished.code == 3, finished
    assert "is damaged" in finished.err


def test_a_runner_that_ends_its_agent_is_a_row(place: Workplace) -> None:
    deadly = place.program("deadly", misbehave={"at": "first", "do": "kill_agent"})
    honest = [place.program(f"honest{i}") for i in range(2)]
    spec = place.spec(deadly, *honest, measure={**FAST_MEASURE, "launches": 2})
    finished = place.run("run", spec, "--format", "json")
    assert finished.code == 1, finished
    row = case_of(finished.json(), "deadly")
    assert (row["outcome"], row["reason_code"]) == ("crashed", "agent_lost")
    assert "the agent was lost 2 times while this ran" in row["text"]
    for i in range(2):
        assert case_of(finished.json(), f"honest{i}")["metrics"]["steady_ns"]["count"] == 2
    assert place.processes() == []


def test_agents_that_end_one_after_the_other_name_the_last_runner(place: Workplace) -> None:
    deadly = [
        place.program(f"deadly{i}", misbehave={"at": "load", "do": "kill_agent"}) for i in range(5)
    ]
    finished = place.run("run", place.spec(*deadly))
    assert finished.code == 3, finished
    assert "3 launches in a row lost their agent, the last of them 'fake@" in finished.err
    assert len(place.launch_ids()) == 3
