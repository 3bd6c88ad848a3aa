"""A stand-in for the part of GitHub's API that keeps comments of pull requests."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "a-token"


class CommentServer:
    """Comments of one pull request, `owner/models` 7; `foreign` are the ids nobody may change."""

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = []
        self.requests: list[tuple[str, str]] = []
        self.foreign: set[int] = set()
        self.refusal = 0
        self.owner: str | None = None  # The token's user; None for the token of an app.
        handler = type("Handler", (_Handler,), {"site": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        """Ends the server."""
        self._server.shutdown()
        self._server.server_close()

    def add(self, body: str, *, author: str | None = None) -> dict[str, Any]:
        """Adds a comment, as the API shows it, by the owner of the token or by a user."""
        number = len(self.comments) + 1
        login = author or self.owner
        user = {"login": login or "assay[bot]", "type": "User" if login else "Bot"}
        url = f"{self.url}/comment/{number}"
        comment = {"id": number, "body": body, "html_url": url, "user": user}
        self.comments.append(comment)
        return comment


class _Handler(BaseHTTPRequestHandler):
    site: CommentServer

    def do_GET(self) -> None:
        if self.path == "/user":
            if self.site.owner is None:
                self._send(403, {"message": "Resource not accessible by integration"})
            else:
                self._answer(200, {"login": self.site.owner})
            return
        query = parse_qs(urlsplit(self.path).query)
        size, page = int(query["per_page"][0]), int(query["page"][0])
        self._answer(200, self.site.comments[(page - 1) * size : page * size])

    def do_POST(self) -> None:
        self._answer(201, lambda body: self.site.add(body["body"]))

    def do_PATCH(self) -> None:
        number = int(self.path.rsplit("/", 1)[1])
        if number in self.site.foreign:
            self._send(403, {"message": "Resource not accessible by integration"})
            return

        def change(body: dict[str, Any]) -> dict[str, Any]:
            comment = next(one for one in self.site.comments if one["id"] == number)
            comment["body"] = body["body"]
            return comment

        self._answer(200, change)

    def _answer(self, status: int, content: Any) -> None:
        self.site.requests.append((self.command, self.path))
        if self.site.refusal or self.headers["Authorization"] != f"Bearer {TOKEN}":
            self._send(self.site.refusal or 401, {"message": "refused"})
        elif callable(content):
            length = int(self.headers["Content-Length"])
            self._send(status, content(json.loads(self.rfile.read(length))))
        else:
            self._send(status, content)

    def _send(self, status: int, content: Any) -> None:
        text = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: Any) -> None:
        """Keeps the output of the tests clean."""
