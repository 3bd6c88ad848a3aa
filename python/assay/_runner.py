"""A runner process and the frames to and from it."""

import contextlib
import fcntl
import importlib
import json
import selectors
import signal
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from assay._errors import AssayError
from assay._paths import child_environment

PROTOCOL = 1
_NO_BYTES: npt.NDArray[np.uint8] = np.empty(0, np.uint8)
_GRACE_SECONDS = 5.0
_PROBE_SECONDS = 4.0
_TAIL_BYTES = 8192
_PIPE_BYTES = 1 << 20


_Message = tuple[str, int, str, npt.NDArray[np.uint8]]
"""Type, request, JSON body and blob of a frame."""


class _Channel(Protocol):
    """The channel of assay._core, which loads only when a runner starts."""

    def send(self, type: str, request: int, body: str, blob: npt.NDArray[np.uint8]) -> None: ...

    def receive(self, timeout_ms: int = -1) -> _Message | None: ...


class _LostError(Exception):
    """The stream of frames broke: the runner is dead or writes something else."""


class Runner:
    """One process that executes programs. Safe to share between threads: requests take turns.

    After its death every request raises the error that tells of it.
    """

    def __init__(
        self, argv: Sequence[str], *, device: str = "local", probe: Sequence[str] = ()
    ) -> None:
        self.device = device
        self._probe = tuple(probe)
        self._lock = threading.Lock()
        self._failure = ""
        self._stage = ""
        self._requests = 0
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  # as long as the process
        core = load_core()
        # A session of its own: Ctrl-C is for this process, which then says bye.
        self._process = subprocess.Popen(
            list(argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            bufsize=0,
            env=child_environment(),
            start_new_session=True,
        )
        self._abandoned = weakref.finalize(self, _end_process, self._process)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._reader = self._process.stdout
        _enlarge_pipes(self._process.stdin.fileno(), self._reader.fileno())
        self._channel: _Channel = core.Channel(self._reader.fileno(), self._process.stdin.fileno())
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._reader, selectors.EVENT_READ)
        self.name = Path(argv[-1]).name

    @property
    def pid(self) -> int:
        """The process id, whether the process lives or not."""
        return self._process.pid

    def request(
        self,
        kind: str,
        body: dict[str, Any] | MappingProxyType[str, Any],
        blob: npt.NDArray[np.uint8] = _NO_BYTES,
    ) -> tuple[dict[str, Any], npt.NDArray[np.uint8]]:
        """Sends one message and waits for its reply: (body, blob).

        Raises:
            AssayError: the runner refused, with its code and stage; or it died (crashed).
        """
        with self._lock:
            self._check_alive()
            try:
                return self._exchange(kind, json.dumps(dict(body)), blob)
            except AssayError:
                raise
            except _LostError as error:
                raise self._death(str(error)) from None
            except BaseException:  # interrupted between the frames: their order is lost
                self._failure = "a request was interrupted"
                self._process.kill()
                raise

    def close(self) -> None:
        """Ends the process, kindly if it still listens. A second call does nothing."""
        with self._lock:
            if not self._failure:
                self._failure = "it was closed"
                self._say_bye()
            self._reap()
            self._abandoned.detach()
            self._selector.close()
            for stream in (self._process.stdin, self._process.stdout, self._stderr):
                if stream is not None:
                    stream.close()

    def _exchange(
        self, kind: str, body: str, blob: npt.NDArray[np.uint8]
    ) -> tuple[dict[str, Any], npt.NDArray[np.uint8]]:
        self._requests += 1
        try:
            self._channel.send(kind, self._requests, body, blob)
        except AssayError as error:
            raise _LostError(error.message) from None
        while True:
            answer, request, text, answer_blob = self._receive()
            if answer == "stage":
                self._stage = json.loads(text)["stage"]
            elif answer == "error":
                raise _error_from_body(json.loads(text))
            elif answer != "log" and request == self._requests:
                return json.loads(text), answer_blob

    def _receive(self) -> _Message:
        self._selector.select()  # in Python, so that Ctrl-C is heard
        try:
            message = self._channel.receive()
        except AssayError as error:
            raise _LostError(error.message) from None
        if message is None:
            raise _LostError("it closed its output")
        return message

    def _check_alive(self) -> None:
        if self._failure:
            raise AssayError(
                f"this program is no longer loaded: {self._failure}; load it again",
                code="unavailable",
            )

    def _death(self, clue: str) -> AssayError:
        self._reap()
        if self._is_device_lost():
            return self._loss(clue)
        code = self._process.returncode
        how = f"died of {_signal_name(-code)}" if code < 0 else f"ended with exit code {code}"
        last = self._last_line()
        words = f"; its last line: {last}" if last else f" ({clue}; nothing on its stderr)"
        self._failure = f"{self.name} {how}"
        return AssayError(f"{self.name} {how}{words}", code="crashed", stage=self._stage)

    def _is_device_lost(self) -> bool:
        """Asks the device itself: the runner may have died of its own there."""
        if not self._probe:
            return False
        try:
            asked = subprocess.run(
                self._probe,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_PROBE_SECONDS,
                check=False,
                start_new_session=True,
            )
        except (OSError, subprocess.TimeoutExpired):
            return True
        return asked.returncode != 0

    def _loss(self, clue: str) -> AssayError:
        self._failure = f"device '{self.device}' was lost"
        return AssayError(
            f"lost device '{self.device}': {self._last_line() or clue}; load the program again "
            "when it is back",
            code="unavailable",
            stage=self._stage,
        )

    def _reap(self) -> None:
        try:
            self._process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _last_line(self) -> str:
        size = self._stderr.seek(0, 2)
        self._stderr.seek(max(0, size - _TAIL_BYTES))
        lines = self._stderr.read().decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def _say_bye(self) -> None:
        try:
            self._exchange("bye", "{}", _NO_BYTES)
        except (AssayError, _LostError):
            self._process.kill()


def _end_process(process: "subprocess.Popen[bytes]") -> None:
    """Ends the process of a runner that nobody closed: it would wait for requests until we end."""
    if process.poll() is None:
        process.kill()
        process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()


def load_core() -> Any:
    """The extension module, which is loaded only when something needs it.

    Raises:
        AssayError: it was not built.
    """
    try:
        return importlib.import_module("assay._core")
    except ImportError as error:
        raise AssayError(
            f"the extension module assay._core does not load ({error}); make build in Assay's "
            "source tree builds it for the interpreter of its .venv, a wheel that was built from "
            "the tree has it",
            code="unavailable",
        ) from error


def _enlarge_pipes(*descriptors: int) -> None:
    """Fewer switches between the processes; where the system refuses, pipes stay as they are."""
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        for descriptor in descriptors:
            with contextlib.suppress(OSError):
                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


def _error_from_body(body: dict[str, Any]) -> AssayError:
    text = str(body.get("message", ""))
    engine_code = body.get("engine_code")
    if engine_code and engine_code not in text:
        text += f" (the engine's code: {engine_code})"
    stage = str(body.get("stage") or "")
    return AssayError(
        text, code=body.get("code", "internal"), stage="" if stage == "none" else stage
    )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
