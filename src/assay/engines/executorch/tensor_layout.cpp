#include "assay/engines/executorch/tensor_layout.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace assay::et {
namespace {

/// Calls visit(row-major index, index in dim order) for every element, in order of memory.
template <class Visit>
void for_each_element(std::span<const std::int32_t> sizes, std::span<const std::uint8_t> dim_order,
                      Visit visit) {
  const std::size_t rank = sizes.size();
  std::vector<std::size_t> row_major_strides(rank, 1);
  std::size_t count = 1;
  for (std::size_t i = rank; i-- > 0;) {
    row_major_strides[i] = count;
    count *= static_cast<std::size_t>(sizes[i]);
  }
  std::vector<std::int32_t> position(rank, 0);
  std::size_t row_major = 0;
  for (std::size_t in_memory = 0; in_memory < count; ++in_memory) {
    visit(row_major, in_memory);
    // Step to the next position in memory: the last of dim_order runs fastest.
    for (std::size_t i = rank; i-- > 0;) {
      const std::size_t dim = dim_order[i];
      row_major += row_major_strides[dim];
      if (++position[dim] < sizes[dim]) {
        break;
      }
      row_major -= row_major_strides[dim] * static_cast<std::size_t>(sizes[dim]);
      position[dim] = 0;
    }
  }
}

}  // namespace

bool is_row_major(std::span<const std::uint8_t> dim_order) {
  return std::ranges::is_sorted(dim_order);
}

void copy_from_row_major(std::span<const std::int32_t> sizes,
                         std::span<const std::uint8_t> dim_order, std::size_t element_bytes,
                         const std::byte* source, std::byte* target) {
  for_each_element(sizes, dim_order, [&](std::size_t row_major, std::size_t in_memory) {
    std::memcpy(target + in_memory * element_bytes, source + row_major * element_bytes,
                element_bytes);
  });
}

void copy_to_row_major(std::span<const std::int32_t> sizes, std::span<const std::uint8_t> dim_order,
                       std::size_t element_bytes, const std::byte* source, std::byte* target) {
  for_each_element(sizes, dim_order, [&](std::size_t row_major, std::size_t in_memory) {
    std::memcpy(target + row_major * element_bytes, source + in_memory * element_bytes,
                element_bytes);
  });
}

}  // namespace assay::et
