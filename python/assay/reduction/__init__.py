"""The toolchain's part of reducing: parts of networks as models, and scripts without Assay."""
