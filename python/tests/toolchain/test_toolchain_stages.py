import os
import signal
import subprocess
import sys
import time

import pytest

from assay.toolchain.server.job_process import JobProcess
from assay.toolchain.stages import StageLog


def test_records_and_announces_each_stage():
    events = []
    log = StageLog(events.append)
    with log.stage("export"):
        time.sleep(0.02)
    with log.stage("lower"):
        pass
    assert [event["stage"] for event in events] == ["export", "lower"]
    assert [record.name for record in log.records] == ["export", "lower"]
    assert log.records[0].wall_ns >= 20_000_000
    assert log.records[1].wall_ns < log.records[0].wall_ns
    assert log.peak_rss_bytes() > 1_000_000


def test_cpu_time_counts_work():
    log = StageLog()
    with log.stage("export"):
        assert sum(range(3_000_000)) > 0
    assert log.records[0].cpu_ns > 5_000_000


def test_peak_is_of_the_stage_and_not_of_the_process():
    code = """
from assay.toolchain.stages import StageLog
log = StageLog()
with log.stage("export"):
    del (block := bytearray(200_000_000))[:]
    del block
with log.stage("lower"):
    pass
print(*(record.peak_rss_bytes for record in log.records))
"""
    argv = [sys.executable, "-c", code]
    first, second = subprocess.run(argv, capture_output=True, text=True).stdout.split()
    assert int(first) - int(second) > 100_000_000


def test_the_stage_that_failed_stays_current_without_a_record():
    log = StageLog()
    with pytest.raises(ValueError, match="x"), log.stage("export"):
        raise ValueError("x")
    assert log.current == "export"
    assert log.records == []


def running(tmp_path, **changes):
    log = tmp_path / "log.txt"
    log.write_text("first\n\nsecond\nthird\nlast words\n")
    read, _ = os.pipe()
    return JobProcess(
        **{"id": 1, "pid": 0, "pipe": read, "log": log, "deadline_ns": None, **changes}
    )


def test_a_signal_is_a_crash_with_its_name_and_last_words(tmp_path):
    done = running(tmp_path, stage="export").conclude(signal.SIGSEGV)
    assert (done["outcome"], done["reason_code"], done["stage"]) == ("crashed", "SIGSEGV", "export")
    assert done["text"].endswith("last words: second | third | last words")


def test_a_kill_that_the_kernel_counted_is_out_of_memory(tmp_path):
    done = running(tmp_path, oom_kills=-1).conclude(signal.SIGKILL)
    assert (done["outcome"], done["reason_code"]) == ("out_of_memory", "oom_killed")


def test_a_result_beats_the_way_of_dying(tmp_path):
    child = running(tmp_path, done={"event": "done", "outcome": "completed"})
    assert child.conclude(signal.SIGSEGV)["outcome"] == "completed"
