"""Facts that a runner tells of the job; comments through GitHub's API. Standard library only."""

import json
import os
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

PAGE = 100
"""The most comments that a page has."""
DEADLINE_S = 30
MOST_PAGES = 30


class GithubError(Exception):
    """The API refused, or did not answer."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


def set_output(name: str, value: str) -> None:
    """Sets an output of the step; a value of several lines is cut to its first."""
    target = os.environ.get("GITHUB_OUTPUT")
    if target:
        with Path(target).open("a", encoding="utf-8") as file:
            file.write(f"{name}={value.splitlines()[0] if value else ''}\n")


def tell(level: str, text: str) -> None:
    """Writes an annotation: "error", "warning" or "notice"."""
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    print(f"::{level} title=Assay::{escaped}", flush=True)


def event() -> dict[str, Any]:
    """The event that started the workflow; empty if the runner tells nothing."""
    try:
        return dict(json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8")))
    except (KeyError, OSError, ValueError):
        return {}


def head_commit() -> str:
    """The commit of the change: on a pull request its head, not the merge that is checked out."""
    head = event().get("pull_request", {}).get("head", {}).get("sha", "")
    return str(head) or os.environ.get("GITHUB_SHA", "")


def pull_request_number() -> int | None:
    """The pull request of the event; None: it is about none."""
    number = event().get("pull_request", {}).get("number")
    return number if isinstance(number, int) else None


def write_comment(number: int, name: str, body: str, token: str) -> str:
    """Writes the comment `name` of a pull request, or updates it, and returns its address.

    Raises:
        GithubError: the token may not, or the API does not answer.
    """
    marker = f"<!-- assay-comment: {name.replace('--', '-')} -->"
    content = {"body": f"{marker}\n{body}"}
    issues = f"/repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    for identifier in find_comments(f"{issues}/{number}/comments", marker, token):
        try:
            return str(call("PATCH", f"{issues}/comments/{identifier}", token, content)["html_url"])
        except GithubError as error:
            if error.status not in (403, 404):  # Someone else's, or gone by now.
                raise
    return str(call("POST", f"{issues}/{number}/comments", token, content)["html_url"])


def find_comments(path: str, marker: str, token: str) -> list[int]:
    """The comments of the token's owner that begin with the marker, oldest first.

    Everybody who may comment can write the marker, and whoever wrote a comment can change it later.
    """
    found: list[int] = []
    owner = find_owner(token)
    for page in range(1, MOST_PAGES + 1):
        comments = call("GET", f"{path}?per_page={PAGE}&page={page}", token)
        found += [
            one["id"]
            for one in comments
            if (one.get("body") or "").startswith(marker) and is_from(owner, one.get("user") or {})
        ]
        if len(comments) < PAGE:
            break
    return found


def find_owner(token: str) -> str | None:
    """The user of the token; None: it is an app's, as GITHUB_TOKEN is, and may not ask."""
    try:
        return str(call("GET", "/user", token)["login"])
    except GithubError as error:
        if error.status not in (403, 404):
            raise
        return None


def is_from(owner: str | None, user: dict[str, Any]) -> bool:
    """True if the owner of the token wrote it; an app's comments are those of a bot."""
    return user.get("type") == "Bot" if owner is None else user.get("login") == owner


def call(method: str, path: str, token: str, content: dict[str, str] | None = None) -> Any:
    """One request to the API.

    Raises:
        GithubError: it was refused, or not answered.
    """
    request = urllib.request.Request(
        os.environ.get("GITHUB_API_URL", "https://api.github.com") + path,
        method=method,
        data=None if content is None else json.dumps(content).encode(),
        headers={
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "User-Agent": "assay-action",
            "X-GitHub-Api-Version": "2022-11-28",
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=DEADLINE_S) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        hint = "; the job needs the permission pull-requests: write" if error.code == 403 else ""
        raise GithubError(
            f"{method} {path}: {error.code} {error.reason}{hint}", error.code
        ) from error
    except (OSError, ValueError) as error:
        raise GithubError(f"{method} {path}: {error}") from error
