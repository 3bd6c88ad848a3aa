"""The steps of the GitHub action: each reads its inputs from the environment.

    python3 tools/action/steps.py measure | compare | summarize | comment | conclude

A runner sets GITHUB_OUTPUT, GITHUB_STEP_SUMMARY and the like. Steps leave their exit codes and
texts in the folder INPUT_OUTPUT, so that a regression still gets its summary and comment; the last
step ends with the exit code of the job. Standard library only: it runs with the runner's Python.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import github

CODES = "exit-codes.json"
MEASURED = ("results.md", "junit.xml", "report.html", "results.json")
COMPARED = ("comparison.json", "comparison.md", "stored-comparison.md")
INCONCLUSIVE = 6
ANSWERS = (0, 1, INCONCLUSIVE)
"""Exit codes with which assay has done what it was asked for."""
SUMMARY_BYTES = 1_000_000
"""A runner refuses summaries of more than 1 MiB."""
COMMENT_CHARACTERS = 65_000
"""GitHub refuses comments of more than 65,536 characters."""


def read_input(name: str) -> str:
    """An input of the action: "base-store" is INPUT_BASE_STORE."""
    return os.environ.get(f"INPUT_{name.upper().replace('-', '_')}", "")


def output_folder() -> Path:
    """The folder of the reports; made if it is missing."""
    folder = Path(read_input("output") or "assay-results")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def store_file() -> Path:
    """The store that keeps the results of this job."""
    given = read_input("store")
    return Path(given) if given else output_folder() / "assay.db"


def labels() -> list[str]:
    """Labels of the run: its commit and branch, as far as the runner tells."""
    known = {
        "commit": github.head_commit(),
        "branch": os.environ.get("GITHUB_HEAD_REF") or os.environ.get("GITHUB_REF_NAME", ""),
        "workflow_run": os.environ.get("GITHUB_RUN_ID", ""),
    }
    return [word for key, value in known.items() if value for word in ("--label", f"{key}={value}")]


def run_assay(step: str, arguments: Sequence[str | Path]) -> int:
    """Runs assay, shows what it prints, and keeps its exit code for the last step."""
    words = ["assay", *(str(argument) for argument in arguments)]
    print(f"::group::{shlex.join(words)}", flush=True)
    try:
        code = subprocess.run(words, check=False).returncode
    except FileNotFoundError:
        code = 3
        print("assay is not on the PATH; give the input 'wheel'")
    print("::endgroup::", flush=True)
    keep_code(step, code)
    return code


def keep_code(step: str, code: int) -> None:
    """Stores the exit code of a step."""
    path = output_folder() / CODES
    codes = json.loads(path.read_text()) if path.is_file() else {}
    path.write_text(json.dumps({**codes, step: code}))


def forget(names: Sequence[str]) -> None:
    """Removes what an earlier use of the folder left, which nobody shall take for this one's."""
    for name in names:
        (output_folder() / name).unlink(missing_ok=True)


def read_document(path: Path) -> dict[str, Any]:
    """A report of assay; empty if it wrote none."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def measure() -> int:
    """Runs the spec on the head: JUnit, Markdown, HTML and JSON."""
    folder, store = output_folder(), store_file()
    forget((CODES, *MEASURED, *COMPARED))
    github.set_output("store", str(store))
    spec = read_input("spec")
    if not spec:
        return 0
    reports = [folder / name for name in MEASURED]
    flags: list[str | Path] = ["--store", store, *labels(), "--out", reports[0]]
    for report in reports[1:]:
        flags += ["--report", report]
    run_assay("measure", ["run", spec, *flags, *shlex.split(read_input("options"))])
    github.set_output("junit", str(reports[1]))
    github.set_output("run", read_document(reports[3]).get("run", {}).get("id", ""))
    return 0


def compare() -> int:
    """Compares head and base: programs in pairs of launches, and the run with a stored one."""
    forget(COMPARED)
    verdict = compare_programs()
    github.set_output("verdict", verdict)
    base_store = read_input("base-store")
    if base_store:
        compare_with_store(Path(base_store))
    return 0


def compare_programs() -> str:
    """The verdict of head against base; empty without both, or where they could not be compared."""
    head, base, folder = read_input("head"), read_input("base"), output_folder()
    if not head and not base:
        return ""
    if not head or not base:
        github.tell("error", "give both inputs 'base' and 'head', or none of them")
        keep_code("compare", 2)
        return ""
    document = folder / "comparison.json"
    flags: list[str | Path] = ["--store", store_file(), *labels(), "--quiet"]
    flags += ["--format", "json", "--out", document, "--report", folder / "comparison.md"]
    options = shlex.split(read_input("compare-options"))
    if run_assay("compare", ["compare", base, head, *flags, *options]) not in ANSWERS:
        return ""
    found = read_document(document)
    verdict = str(found.get("verdict", ""))
    if verdict == "slower":
        github.tell("error", str(found.get("text", "the head is slower than the base")))
    return verdict


def ask_assay(arguments: Sequence[str | Path]) -> str:
    """Runs assay for what decides nothing; what it printed to stdout.

    Raises:
        LookupError: it gave no answer; the text is the last line that it printed.
    """
    words = ["assay", *(str(argument) for argument in arguments)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    print(f"::group::{shlex.join(words)}\n{done.stderr}\n::endgroup::", flush=True)
    if done.returncode not in ANSWERS:
        lines = f"{done.stdout}\n{done.stderr}".split("\n")
        said = next((line for line in reversed(lines) if line.strip()), "assay said nothing")
        raise LookupError(said)
    return done.stdout


def base_of(run: dict[str, Any], base_store: Path) -> str:
    """The newest finished run of the same spec in the base's store.

    Raises:
        LookupError: there is none, or the store cannot be read.
    """
    if not base_store.is_file():
        raise LookupError(f"no store {base_store}")
    listing: list[str | Path] = [
        "runs",
        "--store",
        base_store,
        "--purpose",
        "measure",
        "--limit",
        "-1",
    ]
    name = run.get("name", "")
    for one in json.loads(ask_assay([*listing, "--format", "json"]))["runs"]:
        if one["state"] == "finished" and one["verb"] == "run" and one["name"] == name:
            return str(one["id"])
    raise LookupError(f"{base_store} has no finished run of the spec '{name}'")


def compare_with_store(base_store: Path) -> None:
    """Lays the run beside the newest of its spec in the base's store; that decides nothing."""
    folder, store = output_folder(), store_file()
    text = folder / "stored-comparison.md"
    run = read_document(folder / "results.json").get("run", {})
    try:
        if not run:
            raise LookupError("no run of this job")
        sides = [f"run:{base_of(run, base_store)}", f"run:{run['id']}"]
        ask_assay(["merge", base_store, "--store", store])
        ask_assay(["compare", *sides, "--store", store, "--format", "md", "--out", text])
    except LookupError as problem:
        text.write_text(f"No comparison with a stored base: {problem}.\n")


def sections() -> list[str]:
    """The Markdown of all steps: the comparison first, which most readers want."""
    titles = {
        "comparison.md": "Head (B) against base (A)",
        "stored-comparison.md": "Head (B) against the stored base (A)",
        "results.md": "Results of the head",
    }
    texts = []
    for name, title in titles.items():
        path = output_folder() / name
        if path.is_file():
            text = path.read_text(encoding="utf-8").strip()
            # Headings of a report are below the one of its section.
            texts.append(f"### {title}\n\n{re.sub(r'(?m)^(?=#{3,5} )', '#', text)}\n")
    return texts or ["Assay measured nothing.\n"]


def summarize() -> int:
    """Adds the results to the summary of the job."""
    text = "\n".join(["## Assay\n", *sections()])
    target = os.environ.get("GITHUB_STEP_SUMMARY")
    if target:
        with Path(target).open("a", encoding="utf-8") as summary:
            summary.write(cut(text, SUMMARY_BYTES) + "\n")
    else:
        print(text)
    return 0


def cut(text: str, limit: int) -> str:
    """The text with at most `limit` bytes of UTF-8, and a word on what is missing."""
    if len(text.encode()) <= limit:
        return text
    kept = text.encode()[: limit - 100].decode(errors="ignore").rsplit("\n", 1)[0]
    fence = "\n```" if kept.count("```") % 2 else ""
    return f"{kept}{fence}\n\nThe rest is in the summary and the artifacts of the job."


def comment() -> int:
    """Writes the comment of the pull request, or updates it. A refusal is a warning only."""
    number = github.pull_request_number()
    if number is None:
        print("no pull request, no comment")
        return 0
    body = cut("\n".join(["## Assay\n", *sections()]), COMMENT_CHARACTERS)
    try:
        url = github.write_comment(number, read_input("comment-name"), body, read_input("token"))
    except github.GithubError as error:
        github.tell("warning", f"no comment: {error}")
        return 0
    print(f"comment: {url}")
    return 0


def conclude() -> int:
    """The exit code of the job: what could not run, then findings, then what cannot tell."""
    path = output_folder() / CODES
    codes = json.loads(path.read_text()) if path.is_file() else {}
    code = worst_code(list(codes.values()))
    if code == INCONCLUSIVE and read_input("inconclusive") != "fail":
        github.tell("warning", "the measurements cannot tell; repeat the job or raise the launches")
        code = 0
    github.set_output("exit-code", str(code))
    return code


def worst_code(codes: Sequence[int]) -> int:
    """A step that could not run comes before 1, then 6; a process that a signal ended is 4."""
    known = [4 if code < 0 else code for code in codes]
    broken = [code for code in known if code not in (0, 1, INCONCLUSIVE)]
    return next((code for code in (*broken, 1, INCONCLUSIVE) if code in known), 0)


STEPS: dict[str, Callable[[], int]] = {
    "measure": measure,
    "compare": compare,
    "summarize": summarize,
    "comment": comment,
    "conclude": conclude,
}


def main() -> int:
    """Runs the step that the command line names."""
    if len(sys.argv) != 2 or sys.argv[1] not in STEPS:
        print(f"usage: steps.py {' | '.join(STEPS)}", file=sys.stderr)
        return 2
    return STEPS[sys.argv[1]]()


if __name__ == "__main__":
    sys.exit(main())
