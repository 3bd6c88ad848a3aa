"""A git repository next to a test's files."""

import os
import subprocess

from driver import Workplace


class GitFolder:
    """The folder "source" of a workplace, under git, with an author of its own."""

    def __init__(self, place: Workplace) -> None:
        self.place = place
        self.folder = place.folder / "source"
        self.folder.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str, **environment: str) -> str:
        settings = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "gc.auto=0")
        finished = subprocess.run(
            ["git", *settings, *arguments],
            cwd=self.folder,
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, **environment},
        )
        return finished.stdout.strip()
