"""The GitHub action: every step of action.yml in a clean folder, with a local API for comments.

Most tests have a scripted `assay`, which writes what the real one does; the last ones have the real
one with the fake engine.
"""

import json
import stat
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from github_api import TOKEN, CommentServer
from github_runner import PULL_REQUEST, ROOT, Runner, load_action, some_regression, yaml

BIN = ROOT / "build" / "release" / "bin"

SCRIPTED = """
import json, os, sys
from pathlib import Path

args = sys.argv[1:]
with open(os.environ["SCRIPTED_LOG"], "a") as log:
    log.write(json.dumps(args) + "\\n")
verb = args[0].lstrip("-")
if verb == "runs":
    state = {"state": "finished", "verb": "run", "name": "nightly"}
    others = [{"state": "stopped"}, {"name": "another spec"}, {"verb": "bench"}]
    listed = [{"id": f"0other{at}", **state, **other} for at, other in enumerate(others)]
    print(json.dumps({"schema": "assay/runs/1", "runs": [*listed, {"id": "0base", **state}]}))
elif verb == "version":
    print("assay 0.1.0")
documents = {
    "run": {
        "schema": "assay/report/1",
        "run": {"id": "0head", "name": os.environ.get("SCRIPTED_NAME", "nightly")},
    },
    "compare": {"verdict": os.environ.get("SCRIPTED_VERDICT", ""), "text": "the text"},
}
is_done = os.environ.get(f"SCRIPTED_{verb.upper()}", "0") in ("0", "1", "6")
for flag, value in zip(args, args[1:]):
    if not is_done and flag == "--out":
        Path(value).write_text("")
    elif is_done and flag in ("--out", "--report"):
        path = Path(value)
        is_json = path.suffix == ".json"
        path.write_text(json.dumps(documents[verb]) if is_json else f"{path.name} of {verb}\\n")
code = int(os.environ.get(f"SCRIPTED_{verb.upper()}", "0"))
if code > 1:
    print("error: the last line", file=sys.stderr)
sys.exit(code)
"""


@pytest.fixture
def api() -> Iterator[CommentServer]:
    server = CommentServer()
    yield server
    server.close()


def make_program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


class Job(Runner):
    """A job with a scripted assay on the PATH; keywords are its exit codes and its verdict."""

    @classmethod
    def of(cls, folder: Path, api: CommentServer | None = None, **scripted: str) -> "Job":
        program = folder / "bin" / "assay"
        make_program(program, f"#!{sys.executable}\n{SCRIPTED}")
        environment = {
            "SCRIPTED_LOG": str(folder / "log"),
            **{f"SCRIPTED_{name.upper()}": value for name, value in scripted.items()},
            **({"GITHUB_API_URL": api.url} if api else {}),
        }
        return cls(folder / "job", environment, PULL_REQUEST, [str(program.parent)])

    def calls(self) -> list[list[str]]:
        """The command lines that assay got."""
        log = self.folder.parent / "log"
        return [json.loads(line) for line in log.read_text().splitlines()]


def test_inputs_reach_scripts_through_the_environment_only() -> None:
    action = load_action()
    assert action["runs"]["using"] == "composite"
    used = {
        value
        for step in action["runs"]["steps"]
        for value in step["env"].values()
        if value.startswith("${{ inputs.")
    }
    names = {value.removeprefix("${{ inputs.").removesuffix(" }}") for value in used}
    assert names == set(action["inputs"])
    assert all("${{" not in step["run"] for step in action["runs"]["steps"])


def test_a_job_without_findings_passes(tmp_path: Path, api: CommentServer) -> None:
    job = Job.of(tmp_path, api, verdict="equivalent")
    code = job.use(spec="spec.json", head="head.pte", base="base.pte", token=TOKEN)
    assert code == 0, job.printed()
    assert job.outputs["verdict"] == "equivalent"
    assert job.outputs["run"] == "0head"
    assert job.outputs["exit-code"] == "0"
    assert (job.workspace / job.outputs["junit"]).read_text() == "junit.xml of run\n"
    version, run, compare = job.calls()
    assert version == ["--version"]
    assert run[:2] == ["run", "spec.json"]
    assert f"commit={'f' * 40}" in run
    assert "branch=faster" in run
    assert compare[:3] == ["compare", "base.pte", "head.pte"]
    summary = job.summary.read_text()
    assert summary.index("comparison.md of compare") < summary.index("results.md of run")
    assert "comparison.md of compare" in api.comments[0]["body"]


def test_a_regression_fails_the_job_after_its_comment(tmp_path: Path, api: CommentServer) -> None:
    job = Job.of(tmp_path, api, verdict="slower", compare="1")
    assert job.use(head="head.pte", base="base.pte", token=TOKEN) == 1
    assert job.outputs["exit-code"] == "1"
    assert [one.name for one in job.ends][-1] == "Conclude"
    assert [one.code for one in job.ends] == [0, 0, 0, 0, 0, 1]
    assert "::error title=Assay::the text" in job.printed()
    assert len(api.comments) == 1
    assert "comparison.md of compare" in job.summary.read_text()


def test_a_second_run_updates_the_comment(tmp_path: Path, api: CommentServer) -> None:
    for _ in range(120):
        api.add("someone else's words")
    api.add("quotes\n<!-- assay-comment: assay -->")
    for name in ("first", "second"):
        job = Job.of(tmp_path / name, api)
        assert job.use(spec="spec.json", token=TOKEN) == 0, job.printed()
    own = [one for one in api.comments if one["body"].startswith("<!-- assay-comment: assay -->")]
    assert len(own) == 1
    assert [method for method, _ in api.requests].count("POST") == 1
    assert [method for method, _ in api.requests].count("PATCH") == 1


def test_each_name_has_its_own_comment(tmp_path: Path, api: CommentServer) -> None:
    for name in ("x86", "arm"):
        assert Job.of(tmp_path / name, api).use(token=TOKEN, comment_name=name) == 0
    assert len(api.comments) == 2


@pytest.mark.parametrize("owner", [None, "lab"])
def test_a_comment_that_another_user_marked_is_not_taken(
    tmp_path: Path, api: CommentServer, owner: str | None
) -> None:
    api.owner = owner
    api.add("<!-- assay-comment: assay -->\nmine to change", author="author")
    for name in ("first", "second"):
        assert Job.of(tmp_path / name, api).use(token=TOKEN) == 0
    assert api.comments[0]["body"].endswith("mine to change")
    assert len(api.comments) == 2


def test_a_comment_of_someone_else_is_left_alone(tmp_path: Path, api: CommentServer) -> None:
    api.add("<!-- assay-comment: assay -->\nforged")
    api.foreign.add(1)
    assert Job.of(tmp_path, api).use(token=TOKEN) == 0
    assert api.comments[0]["body"].endswith("forged")
    assert len(api.comments) == 2


def test_a_token_that_may_not_write_is_a_warning(tmp_path: Path, api: CommentServer) -> None:
    api.refusal = 403
    job = Job.of(tmp_path, api)
    assert job.use(spec="spec.json", token=TOKEN) == 0
    assert "::warning title=Assay::no comment" in job.printed()
    assert "pull-requests: write" in job.printed()
    assert TOKEN not in job.printed()


def test_there_is_no_comment_without_a_token_or_a_pull_request(
    tmp_path: Path, api: CommentServer
) -> None:
    assert Job.of(tmp_path / "one", api).use(spec="spec.json") == 0
    job = Job.of(tmp_path / "two", api)
    (job.folder / "event.json").write_text(json.dumps({"ref": "refs/heads/main"}))
    assert job.use(spec="spec.json", token=TOKEN) == 0
    assert api.requests == []


def test_what_cannot_tell_is_a_warning_unless_it_shall_fail(tmp_path: Path) -> None:
    sides = {"head": "head.pte", "base": "base.pte"}
    job = Job.of(tmp_path / "warn", verdict="inconclusive", compare="6")
    assert job.use(**sides) == 0
    assert "::warning title=Assay::" in job.printed()
    job = Job.of(tmp_path / "fail", verdict="inconclusive", compare="6")
    assert job.use(**sides, inconclusive="fail") == 6


@pytest.mark.parametrize(
    ("run", "compare", "expected"), [("1", "3", 3), ("1", "6", 1), ("0", "1", 1), ("2", "1", 2)]
)
def test_what_could_not_run_comes_before_findings(
    tmp_path: Path, run: str, compare: str, expected: int
) -> None:
    job = Job.of(tmp_path, run=run, compare=compare)
    assert job.use(spec="spec.json", head="head.pte", base="base.pte") == expected


def test_one_side_alone_is_wrong_usage(tmp_path: Path) -> None:
    job = Job.of(tmp_path)
    assert job.use(head="head.pte") == 2
    assert "give both inputs" in job.printed()


def test_a_stored_base_is_merged_and_laid_beside(tmp_path: Path) -> None:
    job = Job.of(tmp_path)
    (job.workspace / "base.db").write_text("")
    assert job.use(spec="spec.json", base_store="base.db") == 0, job.printed()
    merge, compare = job.calls()[-2:]
    assert merge[:2] == ["merge", "base.db"]
    assert compare[:3] == ["compare", "run:0base", "run:0head"]
    assert "stored-comparison.md of compare" in job.summary.read_text()


@pytest.mark.parametrize(
    ("scripted", "told"),
    [
        ({"compare": "2"}, "error: the last line."),
        ({"name": "renamed"}, "base.db has no finished run of the spec 'renamed'."),
    ],
)
def test_a_stored_base_that_cannot_be_compared_never_fails_the_job(
    tmp_path: Path, scripted: dict[str, str], told: str
) -> None:
    job = Job.of(tmp_path, **scripted)
    (job.workspace / "base.db").write_text("")
    assert job.use(spec="spec.json", base_store="base.db") == 0, job.printed()
    assert f"No comparison with a stored base: {told}" in job.summary.read_text()


def test_nothing_of_an_earlier_use_is_told_again(tmp_path: Path) -> None:
    job = Job.of(tmp_path, verdict="slower", compare="1")
    (job.workspace / "base.db").write_text("")
    sides = {"head": "head.pte", "base": "base.pte"}
    assert job.use(spec="spec.json", base_store="base.db", **sides) == 1
    job.ends.clear()
    job.summary.unlink()
    job.environment["SCRIPTED_COMPARE"] = "2"
    assert job.use(**sides) == 2
    assert job.outputs["verdict"] == ""
    assert "the text" not in job.printed()
    assert job.summary.read_text() == "## Assay\n\nAssay measured nothing.\n\n"


def test_an_absent_stored_base_is_told(tmp_path: Path) -> None:
    job = Job.of(tmp_path)
    assert job.use(spec="spec.json", base_store="base.db") == 0
    assert "no store base.db" in job.summary.read_text()


def test_options_are_words_and_never_a_script(tmp_path: Path) -> None:
    job = Job.of(tmp_path)
    assert job.use(spec="a spec; touch broken", options="--only 'two words' $(id)") == 0
    run = job.calls()[1]
    assert run[1] == "a spec; touch broken"
    assert run[-3:] == ["--only", "two words", "$(id)"]
    assert not (job.workspace / "broken").exists()


def test_without_assay_the_job_says_what_to_give(tmp_path: Path) -> None:
    job = Runner(tmp_path / "job", {}, PULL_REQUEST)
    assert job.use(spec="spec.json") == 3
    assert "give the input 'wheel'" in job.printed()


def make_wheel(folder: Path, program: str) -> Path:
    """A wheel named assay whose only file is a script."""
    path = folder / "assay-0.1.0-py3-none-any.whl"
    info = "assay-0.1.0.dist-info"
    files = {
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: assay\nVersion: 0.1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nTag: py3-none-any\n"
        "Root-Is-Purelib: true\n",
        "assay-0.1.0.data/scripts/assay": program,
    }
    record = "".join(f"{name},,\n" for name in files) + f"{info}/RECORD,,\n"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**files, f"{info}/RECORD": record}.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
            archive.writestr(entry, text)
    return path


@pytest.mark.slow
def test_a_wheel_is_installed_for_the_steps_that_follow(tmp_path: Path) -> None:
    job = Job.of(tmp_path, run="1")
    job.path.clear()
    (job.workspace / "dist").mkdir()
    make_wheel(job.workspace / "dist", f"#!python\n{SCRIPTED}")
    code = job.use(wheel="dist/assay-*.whl", pip_options="--no-index --no-deps", spec="spec.json")
    assert code == 1, job.printed()
    assert job.calls()[1][:2] == ["run", "spec.json"]
    assert str(job.temp) in job.path[0]


@pytest.mark.slow
def test_a_pattern_of_no_wheel_is_told(tmp_path: Path) -> None:
    job = Job.of(tmp_path)
    assert job.use(wheel="dist/*.whl", spec="spec.json") == 3
    assert "names 0 files" in job.printed()


@pytest.mark.slow
def test_the_real_program_finds_a_regression(tmp_path: Path, api: CommentServer) -> None:
    if not (BIN / "assay-runner-fake").exists():
        pytest.skip("build assay, assay-agent and assay-runner-fake")
    environment = {"GITHUB_API_URL": api.url, "ASSAY_HOME": str(tmp_path / "home")}
    job = Runner(tmp_path / "job", environment, PULL_REQUEST, [str(BIN)])
    code = job.use(**some_regression(job.workspace), token=TOKEN)
    assert code == 1, job.printed()
    assert job.outputs["verdict"] == "slower"
    assert (job.workspace / job.outputs["junit"]).read_text().startswith("<?xml")
    assert "slower" in api.comments[0]["body"]
    assert "head" in job.summary.read_text()


def test_the_example_gives_inputs_that_the_action_has() -> None:
    example = yaml.safe_load((ROOT / "examples" / "github" / "assay.yml").read_text())
    uses = [
        step["with"]
        for step in example["jobs"]["measure"]["steps"]
        if "/assay@" in step.get("uses", "")
    ]
    assert len(uses) == 2
    assert {name for one in uses for name in one} <= set(load_action()["inputs"])
