#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::et {

/// True if elements in this dimension order lie as in a row-major tensor: 0, 1, 2, ….
bool is_row_major(std::span<const std::uint8_t> dim_order);

/// Copies a row-major tensor to one whose dimensions lie in memory in `dim_order` (outermost
/// first; 0 2 3 1 is channels-last), or back.
///
/// `sizes`: of the logical dimensions. `source` and `target` hold as many bytes as the elements
/// take. O(elements), without SIMD: part of bind or fetch, never of execute.
void copy_from_row_major(std::span<const std::int32_t> sizes,
                         std::span<const std::uint8_t> dim_order, std::size_t element_bytes,
                         const std::byte* source, std::byte* target);
void copy_to_row_major(std::span<const std::int32_t> sizes, std::span<const std::uint8_t> dim_order,
                       std::size_t element_bytes, const std::byte* source, std::byte* target);

}  // namespace assay::et
