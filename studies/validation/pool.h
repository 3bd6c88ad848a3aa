#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "assay/base/result.h"

namespace assay::validation {

/// Two pairs as they were launched, ln of a launch's floor: what trials draw.
struct Block {
  std::array<double, 2> a{};
  std::array<double, 2> b{};
};

/// Real pairs of one workload in one state of the machine.
struct Cell {
  std::string workload;  ///< "engine", "compute", "memory"
  std::string state;     ///< "quiet", "1 neighbour", "2 neighbours"
  double effect = 0;     ///< Work that B does more, by instructions: 0.01 is 1 %. 0: B is A's copy.
  std::vector<Block> blocks;
};

/// A recording of record.py: {"schema": "assay/validation-pools/1", "cells": [{"workload", "state",
/// "effect", "floors_ns": [[a, b, a, b], …]}], …}. Errors: kNotFound; kCorrupt, saying where.
Result<std::vector<Cell>> read_pools(const std::filesystem::path& path);

}  // namespace assay::validation
