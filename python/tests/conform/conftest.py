import pytest


@pytest.fixture(autouse=True, scope="session")
def _one_thread():
    """Keeps torch at one thread, as the fork server does; the machine may be shared."""
    from assay.aot import compat

    compat.prepare_torch()
