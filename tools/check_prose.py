#!/usr/bin/env python3
"""Checks the language of documents, help texts, comments and commit subjects.

    python tools/check_prose.py            lists what it finds, and exits with 1 if anything
    python tools/check_prose.py --update   lowers the counts of comments in prose_counts.json

Documents, help and new commit subjects must be clean. Comments that open with a fragment are
counted by tree, and a count may only fall.
"""

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
COUNTS = Path(__file__).with_name("prose_counts.json")
WIDTH_COLUMNS = 120
SUBJECT_COLUMNS = 72

BANNED = re.compile(
    r"\b((?<!there )is none\b|are none of|held against|hold against|nobody|no matter"
    r"|stands? (here|there) twice"
    r"|struck off|strikes? off|goes on with|for good\b|takes no time at all|, with unit\b)",
    re.IGNORECASE,
)
"""Turns that a reader has to read twice."""

CLAUSE = re.compile(
    r"\b(is|are|was|were|has|have|does|do|can|must|may|fails|dies|finds|costs|comes|decides|takes"
    r"|goes|lies|tells|says|makes)\b"
)
QUESTION = re.compile(r"^(what|how|where|when|whether|why|if|who|which)\b", re.IGNORECASE)
RELATIVE = re.compile(r"\b(that|which|who|whose)\b")

FRAGMENT = re.compile(
    r"""(?:///?<?|//!|^\s*\#|\"\"\")\s*(?:Of|What|The\ same|Whether\ it)\b""", re.VERBOSE
)
TREES = {
    "src": ("src/**/*.h", "src/**/*.cpp"),
    "delegates": ("delegates/**/*.h", "delegates/**/*.cpp", "delegates/**/*.py"),
    "python": ("python/**/*.py", "python/**/*.cpp"),
    "tests": ("tests/**/*.py",),
    "bench": ("bench/**/*.py", "bench/**/*.cpp"),
    "studies": ("studies/**/*.py", "studies/**/*.cpp"),
    "tools": ("tools/**/*.py",),
}


def documents() -> list[Path]:
    """The pages of the project."""
    return sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def prose_lines(text: str) -> Iterator[tuple[int, str]]:
    """Numbered lines of a page without its blocks of code."""
    is_fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            is_fenced = not is_fenced
        elif not is_fenced and not line.startswith("    "):
            yield number, line


def is_sentence(heading: str) -> bool:
    """True if a heading is a clause or a question instead of a noun phrase."""
    words = re.sub(r"`[^`]*`", "", heading).strip()
    if QUESTION.match(words) or words.endswith((".", ":", "?", "!")):
        return True
    clause = CLAUSE.search(words)
    relative = RELATIVE.search(words)
    return clause is not None and (relative is None or relative.start() > clause.start())


def findings_in_page(text: str) -> Iterator[str]:
    """Finds the faults of a page, each with its line."""
    for number, line in prose_lines(text):
        heading = re.match(r"#+ (.*)", line)
        if heading and is_sentence(heading[1]):
            yield f"{number}: the heading '{heading[1]}' is not a noun phrase"
        if len(line) > WIDTH_COLUMNS and not line.startswith("|"):
            yield f"{number}: {len(line)} columns; at most {WIDTH_COLUMNS}"
        if banned := BANNED.search(line):
            yield f"{number}: write '{banned[0]}' in plain words"


def findings_in_help(text: str) -> Iterator[str]:
    """Flags of a help screen without a metavar or a group, and banned turns."""
    group = ""
    for number, line in enumerate(text.splitlines(), 1):
        if re.fullmatch(r"[A-Z][\w ]*:", line):
            group = line
        flag = re.match(r"  (?:-\w,)?(--[\w-]+)\S* ?(\S+)?", line)
        if flag and group == "Options:" and flag[1] not in ("--help", "--version"):
            yield f"{number}: {flag[1]} has no group"
        if flag and flag[2] in ("TEXT", "INT", "UINT", "FLOAT"):
            yield f"{number}: {flag[1]} has no metavar"
        if banned := BANNED.search(line):
            yield f"{number}: write '{banned[0]}' in plain words"


def findings_in_subject(subject: str) -> Iterator[str]:
    """Finds the faults of the subject of a commit."""
    if len(subject) > SUBJECT_COLUMNS:
        yield f"{len(subject)} columns; at most {SUBJECT_COLUMNS}"
    if ";" in subject:
        yield "joins changes with ';'"


def git(*arguments: str) -> list[str]:
    """Lines that git prints; none when it fails."""
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()


def new_subjects(since: str) -> list[str]:
    """Subjects of the commits after `since`; of the newest alone where `since` is not there."""
    arguments = ("log", "--no-merges", "--format=%s")
    return (
        git(*arguments, f"{since}..HEAD") if git("cat-file", "-t", since) else git(*arguments, "-1")
    )


def count_fragments(tree: str) -> int:
    """Number of comments in a tree that open with a fragment."""
    files = {path for pattern in TREES[tree] for path in ROOT.glob(pattern)}
    return sum(
        1
        for path in files
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines()
        if FRAGMENT.search(line)
    )


def all_findings(settings: dict[str, Any]) -> Iterator[str]:
    """Every finding with the place where it is."""
    for page in documents():
        for finding in findings_in_page(page.read_text(encoding="utf-8")):
            yield f"{page.relative_to(ROOT)}:{finding}"
    for page in sorted(ROOT.glob("tests/golden/help/*.txt")):
        for finding in findings_in_help(page.read_text(encoding="utf-8")):
            yield f"{page.relative_to(ROOT)}:{finding}"
    for subject in new_subjects(settings["commits_since"]):
        for finding in findings_in_subject(subject):
            yield f"commit '{subject}': {finding}"
    for tree, most in settings["comment_fragments"].items():
        if (count := count_fragments(tree)) > most:
            yield (
                f"{tree}: {count} comments open with 'Of', 'What', 'The same' or 'Whether it', "
                f"{most} before; begin a comment with its subject or verb"
            )


def main() -> int:
    """Prints what it finds."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--update", action="store_true", help="lower the counts of comments")
    settings = json.loads(COUNTS.read_text(encoding="utf-8"))
    if parser.parse_args().update:
        counts = settings["comment_fragments"]
        settings["comment_fragments"] = {
            tree: min(most, count_fragments(tree)) for tree, most in counts.items()
        }
        COUNTS.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
    findings = list(all_findings(settings))
    print("\n".join(findings), file=sys.stderr, end="\n" if findings else "")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
