#pragma once

#include "fixedpoint/operations.h"

#include <cstdint>
#include <string>

namespace fixedpoint {

/// Rows of a table, chosen by indices that are read as a copy reads.
///
/// table: (rows, columns) of int8. multipliers, shifts, biases: one for each row.
struct Embedding {
  Copy read;
  DType index_type = DType::kInt64;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  const std::int8_t* table = nullptr;
  const std::int32_t* multipliers = nullptr;
  const std::uint8_t* shifts = nullptr;
  const std::int64_t* biases = nullptr;
  int low = -128;
  int high = 127;
  /// True if no requantization changes any value: rows are copied.
  bool is_plain = false;
};

/// The requantization of a row's values.
inline Requantize numbers_of(const Embedding& op, std::int64_t row) {
  return {.multiplier = op.multipliers[row],
          .bias = op.biases[row],
          .shift = op.shifts[row],
          .low = op.low,
          .high = op.high};
}

/// Says which index lies outside of the table; empty: none. `indices` may have any alignment.
std::string find_invalid_index(const Embedding& op, const void* indices);

/// All indices are rows of the table: `find_invalid_index` finds none.
void embedding(const Embedding& op, const void* indices, std::int8_t* out);
void embedding(const Embedding& op, const void* indices, std::int16_t* out);

}  // namespace fixedpoint
