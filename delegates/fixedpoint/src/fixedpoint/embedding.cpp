#include "fixedpoint/embedding.h"

#include "fixedpoint/format.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/strided_reads.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

namespace fixedpoint {
namespace {

std::int64_t index_at(const Embedding& op, const void* indices, std::int64_t position) {
  const auto* bytes = static_cast<const std::byte*>(indices);
  if (op.index_type == DType::kInt64) {
    std::int64_t index = 0;
    std::memcpy(&index, bytes + position * sizeof index, sizeof index);
    return index;
  }
  std::int32_t index = 0;
  std::memcpy(&index, bytes + position * sizeof index, sizeof index);
  return index;
}

template <class T>
void copy_row(const Embedding& op, std::int64_t row, T* out) {
  const std::int8_t* values = op.table + row * op.columns;
  if constexpr (std::is_same_v<T, std::int8_t>) {
    if (op.is_plain) {
      std::memcpy(out, values, op.columns);
      return;
    }
  }
  const Requantize requantize = numbers_of(op, row);
  for (std::int64_t i = 0; i < op.columns; ++i) {
    if constexpr (std::is_same_v<T, std::int8_t>) {
      out[i] = requantize(values[i]);
    } else {
      out[i] = requantize_wide(requantize, values[i]);
    }
  }
}

template <class T>
void copy_rows(const Embedding& op, const void* indices, T* out) {
  for_each_position(op.read, [&](std::int64_t position) {
    copy_row(op, index_at(op, indices, position), out);
    out += op.columns;
  });
}

}  // namespace

std::string find_invalid_index(const Embedding& op, const void* indices) {
  std::string found;
  std::int64_t place = 0;
  for_each_position(op.read, [&](std::int64_t position) {
    const std::int64_t index = index_at(op, indices, position);
    if (found.empty() && (index < 0 || index >= op.rows)) {
      found = "index " + std::to_string(index) + " at position " + std::to_string(place) +
              " is none of the " + std::to_string(op.rows) + " rows of its table";
    }
    ++place;
  });
  return found;
}

void embedding(const Embedding& op, const void* indices, std::int8_t* out) {
  copy_rows(op, indices, out);
}

void embedding(const Embedding& op, const void* indices, std::int16_t* out) {
  copy_rows(op, indices, out);
}

}  // namespace fixedpoint
