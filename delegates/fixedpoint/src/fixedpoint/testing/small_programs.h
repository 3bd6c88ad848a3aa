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

/// Together they have every kind of operation, most in both types of activations, aliases in the
/// arena and operations in place.
std::vector<SmallProgram> small_programs();

/// Those among them whose activations are int16.
std::vector<SmallProgram> small_programs_of_16_bits();

}  // namespace fixedpoint::testing
