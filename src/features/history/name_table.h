#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::history {

/// Numbers names in the order of their first appearance, a million of them within a fraction of a
/// second: one array of hashes, searched linearly from where the hash says.
class NameTable {
 public:
  /// `names`: about how many there will be.
  explicit NameTable(std::size_t names = 0);

  /// The number of a name, which is that of the names so far if it is new.
  std::uint32_t number_of(std::string_view name);
  /// By number.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  struct Slot {
    std::size_t hash = 0;
    std::uint32_t number_from_1 = 0;  ///< 0: free.
  };

  [[nodiscard]] Slot& slot_of(std::size_t hash, std::string_view name);
  void grow();

  std::vector<Slot> slots_;  ///< A power of two, at most half of them taken.
  std::vector<std::string> names_;
};

}  // namespace assay::history
