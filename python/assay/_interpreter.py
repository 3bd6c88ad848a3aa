"""Finds the folders that a Python interpreter consists of."""

import sys


def find_folders() -> list[str]:
    """Lists what this interpreter reads to start and import; a sandbox has to allow it."""
    prefixes = (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix)
    return sorted({*prefixes, *filter(None, sys.path)})
