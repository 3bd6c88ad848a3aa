"""The fork server and its jobs: the composition root of the toolchain."""
