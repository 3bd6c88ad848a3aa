"""Lowering flows: from an exported program to the files that an engine loads."""
