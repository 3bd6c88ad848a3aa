import errno

import pytest

from assay.toolchain.errors import (
    MissingDependency,
    RequestError,
    Unsupported,
    failure_from_error,
    reading,
)
from assay.toolchain.server.job_process import JobProcess
from assay.toolchain.suggest import unknown_name


def raised(function):
    try:
        function()
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize(
    ("error", "outcome", "reason"),
    [
        (RequestError("x"), "aot_error", "invalid_request"),
        (Unsupported("x"), "unsupported", "unsupported"),
        (MissingDependency("x"), "aot_error", "missing_dependency"),
        (MemoryError(), "out_of_memory", "allocation_failed"),
        (RuntimeError("can't allocate memory: you tried"), "out_of_memory", "allocation_failed"),
        (OSError(errno.ENOSPC, "No space left on device"), "harness_error", "disk_full"),
        (RuntimeError("write failed: No space left on device"), "harness_error", "disk_full"),
        (OSError(errno.EACCES, "Permission denied"), "harness_error", "internal_error"),
    ],
)
def test_outcome_of_an_error(error, outcome, reason):
    failure = failure_from_error(error, "lower")
    assert (failure["outcome"], failure["reason_code"]) == (outcome, reason)


def test_a_job_that_died_of_a_full_disk_is_no_crash_of_a_backend(tmp_path):
    log = tmp_path / "log"
    log.write_text("OSError: [Errno 28] No space left on device\n")
    job = JobProcess(id=1, pid=0, pipe=0, log=log, deadline_ns=None, stage="serialize")
    done = job.conclude(1 << 8)
    assert (done["outcome"], done["reason_code"]) == ("harness_error", "disk_full")
    assert "free space" in done["text"]
    log.write_text("something else\n")
    assert job.conclude(1 << 8)["outcome"] == "crashed"


def test_foreign_exceptions_blame_the_toolchain_and_name_the_stage():
    failure = failure_from_error(raised(lambda: int("x")), "lower")
    assert (failure["outcome"], failure["reason_code"]) == ("aot_error", "lower_failed")
    assert failure["text"].startswith("lower failed: ValueError: invalid literal")


def test_what_an_error_was_raised_from_is_told_once():
    def lower(cause, told):
        try:
            raise cause
        except Exception as inner:
            try:
                raise KeyError("between") from inner
            except KeyError as outer:
                raise RuntimeError(told) from outer

    failure = failure_from_error(
        raised(lambda: lower(IndexError("no dimension"), "a pass failed")), "lower"
    )
    assert failure["text"] == (
        "lower failed: RuntimeError: a pass failed (from IndexError: no dimension)"
    )
    told = raised(lambda: lower(IndexError("no dimension"), "IndexError: no dimension in a pass"))
    assert failure_from_error(told, "lower")["text"].count("no dimension") == 1


def test_exceptions_of_our_own_code_are_ours():
    failure = failure_from_error(raised(lambda: unknown_name("x", "y", None)), "lower")
    assert (failure["outcome"], failure["reason_code"]) == ("harness_error", "internal_error")


def test_known_errors_come_with_the_mend():
    failure = failure_from_error(raised(lambda: int("Missing out variants")), "serialize")
    assert "let a partitioner take them" in failure["text"].splitlines()[-1]


def test_a_kernel_that_refuses_a_type_is_a_refusal():
    failure = failure_from_error(RuntimeError("\"foo\" not implemented for 'Half'"), "quantize")
    assert (failure["outcome"], failure["reason_code"]) == ("unsupported", "dtype_not_implemented")


def test_an_error_with_a_summary_is_told_by_it():
    text = "Check 'false' failed\nlog of each:\n-- this\n\nSummary:\n-- No rule for: aten.x\n"
    failure = failure_from_error(raised(lambda: (_ for _ in ()).throw(ValueError(text))), "lower")
    assert failure["text"] == "lower failed: ValueError: -- No rule for: aten.x"


def test_text_is_short():
    error = raised(lambda: (_ for _ in ()).throw(ValueError("long " * 1000)))
    assert len(failure_from_error(error, "export")["text"]) < 600


def test_reading_blames_the_request():
    with pytest.raises(RequestError, match="the seed cannot be read"), reading("the seed"):
        int("abc")


def test_unknown_name_lists_when_nothing_is_near():
    assert unknown_name("colour", "zzz", ["red", "blue"]).endswith("known: blue, red")
