"""Conformance: cases of single operators and of whole models, and what a correct answer is.

Imports without the compiled extension, as assay.toolchain does.
"""
