"""Headless Chromium over its debugging pipe: opens pages at any width, in light, dark and print.

One browser serves all tests of a session. A page is a file; each look opens it anew, so that no
test sees what another one clicked.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--hide-scrollbars", "--remote-debugging-pipe"),
]
DEADLINE_S = 120

# A chart is drawn when it first comes near the screen, and again when its width changes, as by a
# scroll bar that another chart brings: all are drawn when they are so in two frames one after the
# other. That takes a while on a busy machine.
SETTLE = """
(async () => {
  const frame = () => new Promise((then) => requestAnimationFrame(() => setTimeout(then, 0)));
  const isShown = (one) => one.checkVisibility();
  const left = () => [...document.querySelectorAll(".canvas:not([data-drawn])")].filter(isShown);
  await frame();
  for (let tries = 0, quiet = 0; %s && quiet < 2 && tries < 600; ++tries) {
    const [first] = left();
    quiet = first ? 0 : quiet + 1;
    first?.scrollIntoView({ behavior: "instant" });
    await frame();
    if (first) await new Promise((then) => setTimeout(then, 20));
  }
  scrollTo({ top: 0, behavior: "instant" });
  await frame();
  await frame();
})()
"""


def find_chromium() -> str | None:
    """Where the browser is; None when there is none."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class PageError(AssertionError):
    """A script of the page, or of the test, failed in the browser."""


class Browser:
    """A running Chromium; `close` ends it."""

    def __init__(self, program: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="assay-chromium-")
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        command = [program, *FLAGS, f"--user-data-dir={self._folder.name}/profile", "about:blank"]
        # Chromium reads commands from descriptor 3 and writes answers to descriptor 4.
        shell = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, "bash", *command],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._buffer = b""
        self._next = 0
        self.events: list[dict[str, Any]] = []

    def close(self) -> None:
        """Ends the browser and removes its profile."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._read)
        os.close(self._write)
        with contextlib.suppress(OSError):
            self._folder.cleanup()

    def open(
        self,
        html: str,
        *,
        width: int = 1280,
        height: int = 900,
        is_dark: bool = False,
        media: str = "",
        is_unfolded: bool = False,
    ) -> "Page":
        """The page in a tab of its own, once its visible charts are drawn."""
        path = Path(self._folder.name) / f"page-{self._next}.html"
        path.write_text(html, encoding="utf-8")
        return self.open_address(
            path.as_uri(),
            width=width,
            height=height,
            is_dark=is_dark,
            media=media,
            is_unfolded=is_unfolded,
        )

    def open_file(self, path: Path, **how: Any) -> "Page":
        """A page with the files next to it; `how` as for `open`."""
        return self.open_address(path.resolve().as_uri(), **how)

    def open_address(
        self,
        address: str,
        *,
        width: int = 1280,
        height: int = 900,
        is_dark: bool = False,
        media: str = "",
        is_unfolded: bool = False,
    ) -> "Page":
        """The page of an address, as `open` gives it."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, target, session)
        page.call("Page.enable")
        page.call("Runtime.enable")
        page.resize(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        page.call("Emulation.setEmulatedMedia", media=media, features=[scheme])
        page.call("Page.navigate", url=address)
        self.wait_for(session, "Page.loadEventFired")
        if is_unfolded:
            page.run('document.querySelectorAll("details").forEach((one) => { one.open = true; });')
        page.settle(has_charts=is_unfolded)
        return page

    def call(self, method: str, session: str | None = None, **parameters: Any) -> Any:
        """The result of a command of the Chrome DevTools Protocol."""
        self._next += 1
        message = {"id": self._next, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        number = self._next
        while True:
            answer = self._receive()
            if answer.get("id") == number:
                if "error" in answer:
                    raise PageError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, session: str, method: str) -> None:
        """Returns when the event has arrived."""
        is_wanted = {"sessionId": session, "method": method}.items()
        while not any(is_wanted <= event.items() for event in self.events if "params" in event):
            self.events.append(self._receive())

    def _receive(self) -> dict[str, Any]:
        end = threading.Timer(DEADLINE_S, os.killpg, (self._process.pid, signal.SIGKILL))
        end.start()
        try:
            while b"\0" not in self._buffer:
                read = os.read(self._read, 1 << 20)
                if not read:
                    raise PageError(f"Chromium ended, or was silent for {DEADLINE_S} s")
                self._buffer += read
        finally:
            end.cancel()
        line, _, self._buffer = self._buffer.partition(b"\0")
        answer: dict[str, Any] = json.loads(line)
        return answer


class Page:
    """A tab with one page."""

    def __init__(self, browser: Browser, target: str, session: str) -> None:
        self._browser = browser
        self._target = target
        self._session = session

    def call(self, method: str, **parameters: Any) -> Any:
        """A command of the protocol for this tab."""
        return self._browser.call(method, self._session, **parameters)

    def resize(self, width: int, height: int) -> None:
        """Gives the window another size."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def settle(self, *, has_charts: bool) -> None:
        """Waits until frames are drawn, and where asked for until every visible chart is."""
        self._evaluate(SETTLE % json.dumps(has_charts))

    def run(self, script: str) -> Any:
        """Returns the result of `script`, the body of a function that can call `all(selector)`."""
        lines = "const all = (selector) => [...document.querySelectorAll(selector)];\n" + script
        return self._evaluate(f"(async () => {{ {lines}\n }})()")

    def wait_until(self, expression: str, seconds: float = 10) -> Any:
        """The value of an expression once it is true, in this page or the one that follows."""
        end = time.monotonic() + seconds
        while True:
            with contextlib.suppress(PageError):
                if found := self.run(f"return {expression};"):
                    return found
            assert time.monotonic() < end, f"it did not come to {expression}"
            time.sleep(0.05)

    def press(self, key: str, code: int, text: str = "") -> None:
        """Presses a key; `text` is what it types."""
        common = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def pdf(self) -> bytes:
        """The page as it is printed on A4."""
        import base64

        centimetre = 1 / 2.54
        sheet = {"paperWidth": 21.0 * centimetre, "paperHeight": 29.7 * centimetre}
        return base64.b64decode(self.call("Page.printToPDF", **sheet)["data"])

    def picture(self, path: Path, height: int = 0) -> None:
        """Writes a PNG of the page from its top."""
        import base64

        if height:
            self.resize(self.run("return innerWidth;"), height)
            self.settle(has_charts=False)
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def console(self) -> list[str]:
        """Lines that the page wrote to the console, errors included."""
        said = []
        for event in self._browser.events:
            if event.get("sessionId") != self._session:
                continue
            if event["method"] == "Runtime.consoleAPICalled":
                said.append(" ".join(str(one.get("value")) for one in event["params"]["args"]))
            elif event["method"] == "Runtime.exceptionThrown":
                said.append(event["params"]["exceptionDetails"]["text"])
        return said

    def close(self) -> None:
        """Closes the tab."""
        self._browser.call("Target.closeTarget", targetId=self._target)

    def __enter__(self) -> "Page":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _evaluate(self, expression: str) -> Any:
        answer = self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise PageError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")
