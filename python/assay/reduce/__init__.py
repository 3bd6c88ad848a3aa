"""The toolchain's part of reducing: parts of networks as models, and scripts without Assay.

Called, it is the verb: `assay.reduce(…)` shrinks a failing case; help(assay.reduce.verb) has its
options.
"""

from assay._callable_package import make_callable

make_callable(__name__)
