"""A verb with its options becomes a command line, and the documents that it writes a Result."""

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from assay import _answers, _correctness, _history, _report
from assay._command import EXIT_OK, EXITS_WITH_ANSWER, error_from, messages_from, run_assay
from assay._errors import AssayError
from assay._fields import UnknownWordError, read_fields
from assay._flags import flags_from_options
from assay._result import Result
from assay.toolchain.temporary import TemporaryFolder


def execute(arguments: Sequence[str], options: Mapping[str, Any]) -> Result:
    """Runs `assay ARGUMENTS FLAGS` and reads its answer as JSON, console text and Markdown.

    Raises:
        AssayError: the program gave no answer; the text is its own.
    """
    with TemporaryFolder("python") as folder:
        files = [Path(folder, f"answer.{ending}") for ending in ("json", "txt", "md")]
        targets = ["--format", "json", "--out", str(files[0])]
        targets += ["--report", str(files[1]), "--report", str(files[2])]
        done = run_assay([*arguments, *flags_from_options(options), *targets])
        if not files[0].is_file() or not files[0].stat().st_size:
            raise error_from(done)
        texts = [_text_of_file(path) for path in files]
        result = result_from_text(
            *texts,
            exit_code=done.returncode,
            messages=messages_from(done),
            store=options.get("store"),
        )
    if done.returncode not in EXITS_WITH_ANSWER and not result.rows:
        raise error_from(done)
    return result


def execute_twice(arguments: Sequence[str], options: Mapping[str, Any]) -> Result:
    """Runs a verb that writes one format a call: its JSON and its console text are two calls.

    Raises:
        AssayError: the program gave no answer; the text is its own.
    """
    words = [*arguments, *flags_from_options(options)]
    done, listed = run_assay([*words, "--format", "json"]), run_assay(words)
    for one in (done, listed):
        if one.returncode != EXIT_OK:
            raise error_from(one)
    return result_from_text(
        done.stdout,
        listed.stdout,
        f"```text\n{listed.stdout}```\n",
        messages=messages_from(done),
        store=options.get("store"),
    )


def result_from_text(
    text: str,
    console: str = "",
    markdown: str = "",
    *,
    exit_code: int = 0,
    messages: tuple[str, ...] = (),
    store: str | Path | None = None,
) -> Result:
    """The Result that a JSON document holds; its schema says which.

    Raises:
        AssayError: it is no JSON (corrupt), or of another version (unsupported).
    """
    try:
        document = json.loads(text)
    except ValueError as error:
        raise AssayError(f"the answer is no JSON: {error}", code="corrupt") from error
    schema = document.get("schema") if isinstance(document, dict) else None
    reader = _READERS.get(str(schema))
    if reader is None:
        raise AssayError(
            f"a document has schema {schema!r}; this package reads {', '.join(sorted(_READERS))}: "
            "use a package and an assay of one version",
            code="unsupported",
        )
    try:
        return reader(
            document,
            document=MappingProxyType(document),
            exit_code=exit_code,
            console=console,
            markdown=markdown,
            messages=messages,
            store=None if store is None else str(store),
        )
    except (KeyError, UnknownWordError) as error:
        fault = error if isinstance(error, UnknownWordError) else f"lacks {error}"
        raise AssayError(
            f"a document of schema {schema} {fault}; use a package and an assay of one version",
            code="unsupported",
        ) from error


def _reader_of_class(kind: type[Result]) -> Callable[..., Result]:
    return functools.partial(read_fields, kind)


def _text_of_file(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


_READERS: dict[str, Callable[..., Result]] = {
    _report.SCHEMA: _report.report_from_json,
    "assay/conformance/1": _correctness.conformance_from_json,
    "assay/history/1": functools.partial(read_fields, _history.History),
    **{schema: _reader_of_class(kind) for schema, kind in _answers.SCHEMAS.items()},
}
