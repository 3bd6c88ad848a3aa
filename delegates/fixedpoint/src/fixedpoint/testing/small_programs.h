#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fixedpoint::testing {

/// A blob of a few kilobytes that is well formed.
struct SmallProgram {
  std::string name;
  std::vector<std::byte> blob;
};

/// Together they have every kind of operation, aliases in the arena and operations in place.
std::vector<SmallProgram> small_programs();

}  // namespace fixedpoint::testing
