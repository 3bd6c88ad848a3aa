"""A stand-in for GitHub's runner: takes the steps of a composite action in order.

Each `run:` step gets a shell, an environment and files (GITHUB_OUTPUT, GITHUB_PATH, …) as a runner
sets them up; expressions are those that action.yml uses, and any other one is an error.
"""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parents[2]
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
PULL_REQUEST = {"pull_request": {"number": 7, "head": {"sha": "f" * 40}, "base": {"sha": "b" * 40}}}


def load_action() -> dict[str, Any]:
    """The action at the root of the repository."""
    return dict(yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8")))


def some_regression(workspace: Path) -> dict[str, str]:
    """Writes two programs of the fake engine, of which the head takes three times as long, and a
    spec of the head; the inputs of a job that finds it.
    """
    vector = [{"dtype": "float32", "shape": [1, 4]}]
    for name, time_ns in (("base", 200_000), ("head", 600_000)):
        program = {"inputs": vector, "outputs": vector, "execute_ns": time_ns}
        (workspace / f"{name}.fake.json").write_text(json.dumps(program))
    measure = {"launches": 1, "warmup": 1, "iterations": 4, "time_budget": "2s"}
    spec = {"schema": "assay/spec/1", "models": ["head.fake.json"], "measure": measure}
    (workspace / "spec.json").write_text(json.dumps(spec))
    return {
        "spec": "spec.json",
        "head": "head.fake.json",
        "base": "base.fake.json",
        "compare_options": "--iterations 3 --warmup 0 --most-pairs 10 --no-canary",
    }


@dataclass
class StepEnd:
    """How a step ended."""

    name: str
    code: int
    out: str


@dataclass
class Runner:
    """A job in a clean folder: its workspace, and what its steps leave.

    With `root` the steps run in that root by chroot, which needs root's rights: `folder` is below
    it, and the action is its folder /action.
    """

    folder: Path
    environment: dict[str, str]
    event: dict[str, Any] = field(default_factory=dict)
    path: list[str] = field(default_factory=list)
    root: Path | None = None
    ends: list[StepEnd] = field(default_factory=list)
    outputs: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.workspace = self.folder / "workspace"
        self.temp = self.folder / "temp"
        for folder in (self.workspace, self.temp):
            folder.mkdir(parents=True)
        (self.folder / "event.json").write_text(json.dumps(self.event))
        self.summary = self.folder / "summary.md"

    def use(self, **inputs: str) -> int:
        """Takes all steps with these inputs ("base_store" is base-store); the job's exit code."""
        action = load_action()
        given = {name.replace("_", "-"): value for name, value in inputs.items()}
        unknown = set(given) - set(action["inputs"])
        assert not unknown, unknown
        values = {name: str(one.get("default", "")) for name, one in action["inputs"].items()}
        values |= given
        steps: dict[str, dict[str, str]] = {}
        code = 0
        for step in action["runs"]["steps"]:
            if not self._is_wanted(step.get("if"), values, code):
                continue
            ended, outputs = self._take(step, values, steps)
            self.ends.append(ended)
            steps[step.get("id", "")] = outputs
            code = code or ended.code
        self.outputs = {
            name: self._expand(one["value"], values, steps)
            for name, one in action["outputs"].items()
        }
        return code

    def _seen(self, path: Path) -> str:
        """A path as the steps see it."""
        return str(path) if self.root is None else f"/{path.relative_to(self.root)}"

    def _command(self, script: Path) -> list[str]:
        bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", self._seen(script)]
        if self.root is None:
            return bash
        return ["chroot", str(self.root), "env", "-C", self._seen(self.workspace), *bash]

    def printed(self) -> str:
        """The output of all steps."""
        return "\n".join(one.out for one in self.ends)

    def _is_wanted(self, condition: str | None, values: dict[str, str], code: int) -> bool:
        if condition is None:
            return code == 0
        found = re.fullmatch(r"\$\{\{ inputs\.([\w-]+) != '' \}\}", condition)
        assert found, f"a condition that this runner does not know: {condition}"
        return code == 0 and values[found[1]] != ""

    def _expand(self, text: str, values: dict[str, str], steps: dict[str, dict[str, str]]) -> str:
        def value_of(match: re.Match[str]) -> str:
            parts = match[1].split(".")
            if parts[0] == "inputs" and len(parts) == 2:
                return values[parts[1]]
            assert parts[0] == "steps", match[0]
            assert parts[2] == "outputs", match[0]
            return steps.get(parts[1], {}).get(parts[3], "")

        return EXPRESSION.sub(value_of, text)

    def _take(
        self, step: dict[str, Any], values: dict[str, str], steps: dict[str, dict[str, str]]
    ) -> tuple[StepEnd, dict[str, str]]:
        assert step["shell"] == "bash", "a composite step names its shell"
        assert "${{" not in step["run"], "an expression inside a script is an injection"
        files = {name: self.folder / f"{name}.txt" for name in ("output", "path", "env")}
        for file in files.values():
            file.write_text("")
        script = self.folder / "step.sh"
        script.write_text(step["run"])
        own = {key: self._expand(str(one), values, steps) for key, one in step["env"].items()}
        done = subprocess.run(
            self._command(script),
            cwd=self.workspace,
            env={**self._environment(files), **own},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.path = [*files["path"].read_text().splitlines(), *self.path]
        lines = [line.split("=", 1) for line in files["output"].read_text().splitlines()]
        return StepEnd(step["name"], done.returncode, done.stdout), {one: two for one, two in lines}

    def _environment(self, files: dict[str, Path]) -> dict[str, str]:
        inherited = [str(Path(sys.executable).parent), *os.environ["PATH"].split(":")]
        if self.root is not None:
            inherited = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"]
        return {
            **self.environment,
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(ROOT) if self.root is None else "/action",
            "GITHUB_ENV": self._seen(files["env"]),
            "GITHUB_EVENT_PATH": self._seen(self.folder / "event.json"),
            "GITHUB_OUTPUT": self._seen(files["output"]),
            "GITHUB_PATH": self._seen(files["path"]),
            "GITHUB_REF_NAME": "7/merge",
            "GITHUB_HEAD_REF": "faster",
            "GITHUB_REPOSITORY": "owner/models",
            "GITHUB_RUN_ID": "42",
            "GITHUB_SHA": "a" * 40,
            "GITHUB_STEP_SUMMARY": self._seen(self.summary),
            "GITHUB_WORKSPACE": self._seen(self.workspace),
            "HOME": self._seen(self.folder),
            "PATH": ":".join([*self.path, *inherited]),
            "RUNNER_TEMP": self._seen(self.temp),
        }
