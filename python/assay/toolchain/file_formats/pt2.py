"""Reads exported programs (.pt2) without running what they hold.

torch.export.load unpickles, evaluates and executes parts of the file. A file that came from
elsewhere is read here first, and refused where it has anything but tensors, operators and
arithmetic. ASSAY_TRUST=1 (`--trust`) loads it as torch does.
"""

import ast
import io
import json
import os
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.toolchain.errors import JobError

if TYPE_CHECKING:
    import torch

TRUST = "ASSAY_TRUST"
"""Set to 1 in the environment of whatever loads files that their user vouches for."""

_PLAIN = re.compile(r"[\w.#:<>\[\]/, -]*")
_NAME = re.compile(r"[\w.]*")
_OPERATOR = re.compile(r"torch\.ops\.[\w.]+|_operator\.\w+|math\.\w+|torch\.(_?sym|_C)_?[\w.]*")
_TORCH_OPERATOR = re.compile(r"torch\.ops\.[\w.]+")
_SYMBOL = re.compile(r"[a-z_]+\d+")
_WORD = re.compile(r"\w+")
_FREE_TEXTS = frozenset(
    _WORD.findall(
        """as_string as_strings stack_trace nn_module_stack torch_fn from_node custom
        source_fn_stack torch_version"""
    )
)
"""Texts that are passed on as values, or are metadata for people."""

# torch.utils._sympy.functions, and the heads that sympy.srepr prints.
_FUNCTIONS = frozenset(
    _WORD.findall(
        """FloorDiv ModularIndexing Where PythonMod Mod CleanDiv CeilToInt FloorToInt CeilDiv LShift
        RShift PowByNatural FloatPow FloatTrueDiv IntTrueDiv IsNonOverlappingAndDenseIndicator
        TruncToFloat TruncToInt RoundToInt RoundDecimal ToFloat Identity Symbol Integer Rational
        Float Add Mul Pow Max Min Abs Eq Ne Lt Le Gt Ge Equality Unequality StrictLessThan LessThan
        StrictGreaterThan GreaterThan And Or Not floor ceiling sqrt Piecewise max min abs"""
    )
)
_WORDS = frozenset(("L", "true", "false", "oo", "int_oo", "inf"))
_SIZES = frozenset(("size", "stride", "storage_offset"))
_NODES = (
    *(ast.Expression, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Subscript),
    *(ast.Load, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.Tuple, ast.keyword),
)


_KEY = "a key"
_DOCUMENTS = ("in_spec", "out_spec", "context")
_IN_DOCUMENT = "a document"
_FORMS = {"name": _NAME, "target": _OPERATOR, "as_operator": _TORCH_OPERATOR}


class UntrustedFile(JobError):
    """The file would run code of its own while it is loaded."""

    reason_code = "untrusted_file"


def load_exported(path: Path) -> "torch.export.ExportedProgram":
    """The program that torch.export.save wrote.

    Raises:
        UntrustedFile: loading it could run code that it holds, and ASSAY_TRUST is not 1.
        Exception: whatever torch raises for a damaged file.
    """
    import torch

    if os.environ.get(TRUST) != "1":
        check_exported(path)
    return torch.export.load(path)


def check_exported(path: Path) -> None:
    """Refuses a file that holds more than tensors, operators and arithmetic.

    Reads the members by torch's own reader, so that it sees what torch will see.

    Raises:
        UntrustedFile: the text says what it holds, and how to load it all the same.
        Exception: whatever the readers raise for a damaged file.
    """
    import torch

    with zipfile.ZipFile(path) as file:
        if "version" in file.namelist():
            raise _refusal(path, "is of the older format, which is all pickles")
    reader = torch._C.PyTorchFileReader(str(path))
    names = [str(name) for name in reader.get_all_records()]
    if len({name.lower() for name in names}) != len(names):
        raise _refusal(path, "has two members of one name")
    for name in names:
        _check_member(path, name)
        if name.startswith("models/"):
            inputs = f"data/sample_inputs/{name.removeprefix('models/').removesuffix('.json')}.pt"
            _check_pickle(path, inputs, reader.get_record(inputs))
        if name.startswith("models/") or name.endswith(".json"):
            _check_document(path, name, json.loads(reader.get_record(name)))


def _check_member(path: Path, name: str) -> None:
    if name.startswith("data/aotinductor"):
        raise _refusal(path, f"holds a native library ({name})")
    if name.startswith(("data/weights/", "data/constants/")) and name.endswith(".pt"):
        raise _refusal(path, f"holds a pickle ({name})")


def _check_pickle(path: Path, name: str, data: bytes) -> None:
    """Example inputs are a pickle always; torch reads it fully where its safe reader refuses."""
    import torch

    if data:
        try:
            torch.load(io.BytesIO(data), weights_only=True)
        except Exception as error:
            text = f"holds a pickle of more than tensors ({name})"
            raise _refusal(path, text) from error


def _check_document(path: Path, name: str, document: Any) -> None:
    for key, value in _walk(document):
        if key == "use_pickle" and value:
            raise _refusal(path, f"holds pickled tensors ({name})")
        if key == "path_name" and str(value).startswith(("custom_obj", "opaque_obj")):
            raise _refusal(path, f"holds a pickled object ({name}: {value})")
        if key == _KEY and value in ("__enum__", "default_factory_module"):
            raise _refusal(path, f"imports a module by its name ({name})")
        if isinstance(value, str) and not _is_harmless(key, value):
            raise _refusal(path, f"holds text that torch may execute ({name}: {value[:60]!r})")


def _walk(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """All leaves with the key that they stand under, the keys too, and documents within texts."""
    if isinstance(value, Mapping):
        for name, child in value.items():
            yield _KEY, str(name)
            yield from _walk(child, str(name))
    elif isinstance(value, list):
        for child in value:
            yield from _walk(child, key)
    elif key in _DOCUMENTS and isinstance(value, str) and _is_document(value):
        yield from _walk(json.loads(value), _IN_DOCUMENT)
    else:
        yield key, value


def _is_document(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _is_harmless(key: str, text: str) -> bool:
    if key in _FREE_TEXTS:
        return True
    if key in ("expr_str", "guards_code"):
        return _is_arithmetic(text)
    if key in _FORMS:
        return bool(_FORMS[key].fullmatch(text))
    return bool(_PLAIN.fullmatch(text)) or (key == _KEY and _is_arithmetic(text))


def _is_arithmetic(text: str) -> bool:
    try:
        nodes = list(ast.walk(ast.parse(text.strip(), mode="eval")))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return all(map(_is_known_node, nodes))


def _is_known_node(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return node.id in _FUNCTIONS or node.id in _WORDS or bool(_SYMBOL.fullmatch(node.id))
    if isinstance(node, ast.Attribute):
        return node.attr in _SIZES
    if isinstance(node, ast.Call):
        return isinstance(node.func, (ast.Attribute, ast.Name))
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            return bool(_PLAIN.fullmatch(node.value))
        return not isinstance(node.value, bytes)
    return isinstance(node, _NODES)


def _refusal(path: Path, what: str) -> UntrustedFile:
    return UntrustedFile(
        f"{path.name} {what}: loading it can run any code. Load it only if you trust where it "
        "comes from, with --trust (or ASSAY_TRUST=1)"
    )
