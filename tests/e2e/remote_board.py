"""A board behind ssh that is this machine: its ssh runs the command here, in a home of its own."""

import os
import signal
from pathlib import Path

from driver import Workplace

SSH = """#!/bin/sh
# ssh OPTIONS -- HOST COMMAND
folder=$(dirname "$0")
if [ -e "$folder/fault" ]; then . "$folder/fault"; fi
while [ "$1" != -- ]; do shift; done
exec env -i HOME="$folder/board" PATH="$PATH" TMPDIR="$folder/board" \\
  ASSAY_RUNTIME_DIR="$folder/board/locks" {mark} sh -c "$3"
"""


class RemoteBoard:
    """The device `ssh:board` of a workplace."""

    def __init__(self, place: Workplace) -> None:
        self.place = place
        self.folder = place.folder / "network"
        self.home = self.folder / "board"
        self.home.mkdir(parents=True)
        ssh = self.folder / "ssh"
        ssh.write_text(SSH.replace("{mark}", f"ASSAY_HOME={place.home}"), encoding="utf-8")
        ssh.chmod(0o755)
        place.env["ASSAY_SSH"] = str(ssh)

    @property
    def storage(self) -> Path:
        """Assay's folder on the board."""
        return self.home / ".cache" / "assay-agent"

    def fail_with(self, words: str, code: int = 255) -> None:
        """From now on no connection succeeds."""
        self._set_fault(f"echo '{words}' >&2; exit {code}")

    def _set_fault(self, script: str) -> None:
        (self.folder / "fault").write_text(script + "\n", encoding="utf-8")

    def hide(self, program: str) -> None:
        """The board has the usual programs from now on, and not this one."""
        shadow = self.folder / "bin"
        shadow.mkdir()
        for file in Path("/usr/bin").iterdir():
            if file.name != program:
                (shadow / file.name).symlink_to(file)
        self._set_fault(f"PATH={shadow}")

    def heal(self) -> None:
        """Connections succeed again, and files can be kept."""
        (self.folder / "fault").unlink(missing_ok=True)
        if (self.storage / "blobs").is_file():
            (self.storage / "blobs").unlink()

    def lose_trees(self) -> None:
        """The trees of files are gone at once."""
        (self.storage / "trees").rename(self.folder / "lost-trees")

    def damage_blobs(self) -> None:
        """The trees are gone, and no blob is whole."""
        self.lose_trees()
        for blob in (self.storage / "blobs").iterdir():
            blob.write_bytes(b"")

    def break_storage(self) -> None:
        """The trees are gone, and no file can be kept any more."""
        self.lose_trees()
        (self.storage / "blobs").rename(self.folder / "lost-blobs")
        (self.storage / "blobs").write_text("", encoding="utf-8")

    def lose_power(self) -> None:
        """Agents end, and what was written last has no bytes."""
        for agent in self.storage.glob("assay-agent-*"):
            agent.unlink()
            agent.write_bytes(b"")
            agent.chmod(0o755)
        self.kill_agents()

    def kill_agents(self) -> None:
        """Kills the agents there."""
        for pid, command in self.place._processes():
            if "/assay-agent-" in command:
                os.kill(pid, signal.SIGKILL)

    def files(self) -> dict[str, float]:
        """Blobs on the board, with the time of their last change."""
        blobs = self.storage / "blobs"
        return {path.name: path.stat().st_mtime for path in blobs.iterdir()}
