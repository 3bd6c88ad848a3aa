from collections.abc import Sequence

from assay.engines.adapter import Adapter

def run(adapter: Adapter, arguments: Sequence[str]) -> int: ...
