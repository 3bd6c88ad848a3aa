"""Conformance: cases of single operators and of whole models, and what a correct answer is.

Imports without the compiled extension, as assay.toolchain does. Called, it is the verb:
`assay.conform(…)` runs the cases; help(assay.conform.verb) has its options.
"""

from assay._callable_package import make_callable

make_callable(__name__)
