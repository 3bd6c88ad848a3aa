"""Git and Mercurial, as far as a history is written with them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Protocol

AUTHOR = "Ann Author"
ADDRESS = "ann@example.org"


class Keeper(Protocol):
    """Writes commits to a repository."""

    def commit(self, subject: str, unix_s: int) -> str:
        """Commits all files; the hash."""

    def start_side(self) -> None:
        """Puts the next commits on a side branch."""

    def end_side(self) -> None:
        """Goes back to where the side branch started."""

    def merge_side(self, subject: str, unix_s: int) -> str:
        """Merges the side branch with a commit of its own; the hash."""


class Git:
    """A repository of git with the branch main."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.run("init", "--quiet", "--initial-branch=main")

    def run(self, *arguments: str, unix_s: int = 1_767_571_200) -> str:
        """Runs git; its output."""
        date = f"{unix_s} +0000"
        variables = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
            **{"GIT_AUTHOR_NAME": AUTHOR, "GIT_AUTHOR_EMAIL": ADDRESS, "GIT_AUTHOR_DATE": date},
            **{"GIT_COMMITTER_NAME": AUTHOR, "GIT_COMMITTER_EMAIL": ADDRESS},
            **{"GIT_COMMITTER_DATE": date, "GIT_CONFIG_GLOBAL": "/dev/null"},
        }
        command = ["git", "-c", "gc.auto=0", *arguments]
        return subprocess.run(
            command, cwd=self.folder, env=variables, check=True, capture_output=True, text=True
        ).stdout.strip()

    def commit(self, subject: str, unix_s: int) -> str:
        self.run("add", "--all")
        self.run("commit", "--quiet", "--allow-empty", "--message", subject, unix_s=unix_s)
        return self.run("rev-parse", "HEAD")

    def start_side(self) -> None:
        self.run("checkout", "--quiet", "-B", "side")

    def end_side(self) -> None:
        self.run("checkout", "--quiet", "main")

    def merge_side(self, subject: str, unix_s: int) -> str:
        self.run("merge", "--quiet", "--no-ff", "--message", subject, "side", unix_s=unix_s)
        self.run("branch", "--quiet", "--delete", "side")
        return self.run("rev-parse", "HEAD")


class Mercurial:
    """A repository of Mercurial with the branch default."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.run("init")
        self.start = ""
        self.side = ""

    def run(self, *arguments: str) -> str:
        """Runs hg; its output."""
        variables = {**os.environ, "HGPLAIN": "1", "HGRCPATH": ""}
        command = ["hg", *arguments]
        return subprocess.run(
            command, cwd=self.folder, env=variables, check=True, capture_output=True, text=True
        ).stdout.strip()

    def tip(self) -> str:
        """The hash of the parent of the working folder."""
        return self.run("log", "--rev", ".", "--template", "{node}")

    def commit(self, subject: str, unix_s: int) -> str:
        self.run("addremove", "--quiet", "--similarity", "100")
        user = f"{AUTHOR} <{ADDRESS}>"
        self.run("commit", "--message", subject, "--date", f"{unix_s} 0", "--user", user)
        return self.tip()

    def start_side(self) -> None:
        self.start = self.tip()

    def end_side(self) -> None:
        self.side = self.tip()
        self.run("update", "--quiet", "--clean", "--rev", self.start)

    def merge_side(self, subject: str, unix_s: int) -> str:
        # `hg merge` refuses what a fast-forward would do.
        self.run("update", "--quiet", "--clean", "--rev", self.side)
        self.run("debugsetparents", self.start, self.side)
        return self.commit(subject, unix_s)
