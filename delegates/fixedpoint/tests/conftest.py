"""Fixtures that tests of the delegate share: small networks, the runtime's library."""

import os
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1]
ROOT = PACKAGE.parents[1]
sys.path.insert(0, str(PACKAGE / "python"))

BUILT = [
    ROOT / "build" / folder / "lib" / "libfixedpoint.so" for folder in ("release", "fixedpoint")
]


@pytest.fixture(scope="session")
def library_path():
    """Folder of the delegate's library."""
    given = os.environ.get("FIXEDPOINT_LIBRARY")
    found = [path for path in ([Path(given)] if given else BUILT) if path.exists()]
    if not found:
        pytest.skip("the delegate's library is not built (FIXEDPOINT_LIBRARY names it)")
    return found[0]


@pytest.fixture(scope="session")
def library(library_path):
    from fixedpoint.runtime import Library

    return Library(library_path)
