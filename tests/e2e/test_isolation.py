"""A runner that dies is a row: who, where, why, its last words. The campaign goes on."""

from dataclasses import dataclass

import pytest
from driver import BIN, FAST_MEASURE, Workplace, case_of

# When it happens, and the stage that is told: outputs are fetched in every inference, so what
# happens at the first fetch happens in the first inference.
STAGES = {
    "load": "load",
    "first": "first",
    "steady": "steady",
    "fetch": "first",
    "unload": "unload",
}
MOMENTS = list(STAGES)


@dataclass(frozen=True)
class Death:
    """Outcome that a deed must be reported with."""

    deed: str
    outcome: str
    reason: str
    text: str  # Part of the sentence for people.
    moments: tuple[str, ...] = tuple(MOMENTS)
    flags: tuple[str, ...] = ()


DEATHS = [
    Death("segfault", "crashed", "SIGSEGV", "ended by SIGSEGV in stage {stage}"),
    Death("abort", "crashed", "SIGABRT", "ended by SIGABRT in stage {stage}"),
    Death("kill", "crashed", "SIGKILL", "ended by SIGKILL in stage {stage}"),
    Death("stack_overflow", "crashed", "SIGSEGV", "ended by SIGSEGV in stage {stage}"),
    Death("exit0", "crashed", "exited_early", "exited with 0 in stage {stage}, before it had"),
    Death("exit3", "crashed", "exit_code_3", "exited with 3 in stage {stage}"),
    Death(
        *("hang", "timed_out", "deadline", "killed at its deadline, after 7"),
        flags=("--launch-timeout", "700ms"),
    ),
    Death(
        *("eat_memory", "out_of_memory", "out_of_memory", "killed for its memory; its peak was"),
        flags=("--memory-limit", "100MB"),
    ),
    Death("garbage_on_wire", "crashed", "garbage_on_wire", "its answer is damaged"),
    # An exception while unloading is thrown in a destructor, where C++ cannot catch it.
    Death("throw", "run_error", "engine", "exception on order", ("first", "steady", "fetch")),
    Death("throw", "load_error", "engine", "exception on order", ("load",)),
    Death("error", "run_error", "engine", "failure on order", ("first", "steady", "fetch")),
    Death("error", "load_error", "engine", "failure on order", ("load",)),
]

CASES = [
    pytest.param(death, moment, id=f"{death.deed}-{moment}")
    for death in DEATHS
    for moment in death.moments
]


@pytest.mark.parametrize(("death", "moment"), CASES)
def test_death_is_a_row_and_the_next_case_runs(place: Workplace, death: Death, moment: str) -> None:
    bad = place.program("bad", misbehave={"at": moment, "do": death.deed})
    healthy = place.program("healthy")
    # Two rounds: the order within a round is drawn, but the second one comes after the death.
    spec = place.spec(bad, healthy, measure={**FAST_MEASURE, "launches": 2})

    finished = place.run("run", spec, "--format", "json", *death.flags)

    assert finished.code == 1, finished
    row = case_of(finished.json(), "bad")
    assert (row["outcome"], row["stage"], row["reason_code"]) == (
        death.outcome,
        STAGES[moment],
        death.reason,
    ), row["text"]
    assert death.text.format(stage=STAGES[moment]) in row["text"]
    assert row["verdict"] == "fail"
    assert f"bad.fake {death.outcome}: " in finished.err
    survivor = case_of(finished.json(), "healthy")
    assert survivor["outcome"] == "completed"
    assert survivor["metrics"]["steady_ns"]["count"] == 2
    assert place.processes() == []


def test_what_a_library_prints_to_stdout_does_no_harm(place: Workplace) -> None:
    chatty = [
        place.program(f"chatty_{moment}", misbehave={"at": moment, "do": "print_stdout"})
        for moment in MOMENTS
    ]
    finished = place.run("run", place.spec(*chatty), "--format", "json")
    assert finished.code == 0, finished
    assert {case["outcome"] for case in finished.json()["cases"]} == {"completed"}
    ends = place.query("select process_end from launch")
    assert all("a library prints to stdout" in end for (end,) in ends)


RUNNER = """#!/bin/sh
if [ "$1" = --describe ]; then
  "{bin}/assay-runner-fake" --describe | sed 's/"name": "fake"/"name": "dying"/'
  exit
fi
echo "libnpu.so: firmware 1.2 is too old" >&2
{death}
"""


@pytest.mark.parametrize(
    ("death", "reason"),
    [("kill -SEGV $$", "SIGSEGV"), ("exit 127", "exit_code_127"), ("exit 0", "exited_early")],
)
def test_last_words_of_a_runner_that_dies_at_its_start_are_kept(
    place: Workplace, death: str, reason: str
) -> None:
    runner = place.folder / "runner"
    runner.write_text(RUNNER.format(bin=BIN, death=death), encoding="utf-8")
    runner.chmod(0o755)
    place.register("dying", "1", runner)
    model = place.program("net")

    finished = place.run("run", place.spec(model, engines=["dying", "fake"]), "--format", "json")

    assert finished.code == 1, finished
    cases = {case["engine"]: case for case in finished.json()["cases"]}
    assert cases["fake@1"]["outcome"] == "completed"
    dead = cases["dying@1"]
    assert (dead["outcome"], dead["stage"], dead["reason_code"]) == ("crashed", "start", reason)
    assert "its last line on stderr: libnpu.so: firmware 1.2 is too old" in dead["text"]
    assert dead["last_words"] == "libnpu.so: firmware 1.2 is too old\n"
