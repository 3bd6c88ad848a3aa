#include "features/history/name_table.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::history {

NameTable::NameTable(std::size_t names) : slots_(std::bit_ceil(2 * names + 16)) {
  names_.reserve(names);
}

NameTable::Slot& NameTable::slot_of(std::size_t hash, std::string_view name) {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    auto& slot = slots_[at];
    if (slot.number_from_1 == 0 || (slot.hash == hash && names_[slot.number_from_1 - 1] == name)) {
      return slot;
    }
  }
}

void NameTable::grow() {
  const auto old = std::move(slots_);
  slots_ = std::vector<Slot>(2 * old.size());
  for (const auto& slot : old) {
    if (slot.number_from_1 != 0) {
      slot_of(slot.hash, names_[slot.number_from_1 - 1]) = slot;
    }
  }
}

std::uint32_t NameTable::number_of(std::string_view name) {
  const std::size_t hash = std::hash<std::string_view>{}(name);
  auto* slot = &slot_of(hash, name);
  if (slot->number_from_1 == 0) {
    if (2 * (names_.size() + 1) > slots_.size()) {
      grow();
      slot = &slot_of(hash, name);
    }
    names_.emplace_back(name);
    *slot = {.hash = hash, .number_from_1 = static_cast<std::uint32_t>(names_.size())};
  }
  return slot->number_from_1 - 1;
}

}  // namespace assay::history
