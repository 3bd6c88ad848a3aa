#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <vector>

#include "assay/record/case.h"
#include "assay/spec/spec.h"

namespace assay {

/// The rules by which a spec leaves cells out, and which of them were of use. The rules are not
/// copied.
class Exclusion {
 public:
  explicit Exclusion(std::span<const SpecExclude> rules) : rules_(rules) {}

  /// True if a rule leaves the cell out.
  bool takes(const Case& cell);

  /// The rules, by index, that have taken no cell so far.
  [[nodiscard]] std::vector<std::size_t> idle_rules() const;

 private:
  std::span<const SpecExclude> rules_;
  std::set<std::size_t> busy_;
};

}  // namespace assay
