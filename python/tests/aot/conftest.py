import os
import sys
from pathlib import Path

import pytest
from aot_client import Client

HERE = Path(__file__).parent
FACTORIES = HERE / "aot_factories.py"
PLUGINS = [HERE / "plugins" / name for name in ("tiny_plugin.py", "broken_plugin.py")]


@pytest.fixture(scope="session")
def server():
    """A real fork server, warm, with the plug-ins of these tests."""
    plugins = os.pathsep.join(str(path) for path in PLUGINS)
    argv = [sys.executable, "-m", "assay.aot.server", "--jobs", "1"]
    client = Client(argv, ASSAY_PLUGINS=plugins)
    ready = client.next_event()
    assert ready["event"] == "ready"
    client.ready = ready
    yield client
    assert client.close() == 0


@pytest.fixture(scope="session")
def one_thread():
    """Keeps torch at one thread, as the fork server does; the machine may be shared."""
    from assay.aot import compat

    compat.prepare_torch()


@pytest.fixture(scope="session")
def factory():
    """Names a factory of factories.py as a model reference."""
    return lambda name: f"{FACTORIES}:{name}"
