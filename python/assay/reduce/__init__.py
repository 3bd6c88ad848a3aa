"""What a reducer needs of the toolchain: parts of networks as models, and scripts without Assay."""
