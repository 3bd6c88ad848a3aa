"""Parts that the test devices share."""

import subprocess
from abc import ABC, abstractmethod
from pathlib import Path
from types import TracebackType


class Device(ABC):
    """A device that runs between __enter__ and __exit__."""

    @abstractmethod
    def close(self) -> None:
        """Ends the board and all processes on it."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class SshDevice(Device):
    """A device behind ssh: `host` is its name there, with the file `ssh_config`.

    alive_interval_s: ssh gives up after three of these without an answer.
    """

    host: str
    ssh_config: Path
    alive_interval_s: int

    def ssh(self, command: str, *, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Runs a command there."""
        return subprocess.run(self.ssh_argv(command), input=stdin, capture_output=True)

    def ssh_argv(self, command: str) -> list[str]:
        """The command line that runs a command there."""
        alive = [f"-oServerAliveInterval={self.alive_interval_s}", "-oServerAliveCountMax=3"]
        flags = ["-F", str(self.ssh_config), "-T", "-oBatchMode=yes", *alive, "-oConnectTimeout=10"]
        return ["ssh", *flags, self.host, command]
