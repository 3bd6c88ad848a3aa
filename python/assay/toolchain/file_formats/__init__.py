"""Readers of program files, one module a format."""
