#include "fixedpoint/reorder.h"

#include "fixedpoint/format.h"
#include "fixedpoint/program.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace fixedpoint {
namespace {

/// By place in the tensor's order: how far apart neighbors are in `order`, in elements.
std::array<std::size_t, kMaxRank> steps_in(const TensorRecord& tensor,
                                           std::span<const std::uint8_t> order) {
  std::array<std::size_t, kMaxRank> sizes = {};
  for (int place = 0; place < tensor.rank; ++place) {
    sizes[dimension_at(tensor, place)] = tensor.dims[place];
  }
  std::array<std::size_t, kMaxRank> by_dimension = {};
  std::size_t step = 1;
  for (std::size_t place = order.size(); place-- > 0;) {
    by_dimension[order[place]] = step;
    step *= sizes[order[place]];
  }
  std::array<std::size_t, kMaxRank> steps = {};
  for (int place = 0; place < tensor.rank; ++place) {
    steps[place] = by_dimension[dimension_at(tensor, place)];
  }
  return steps;
}

/// Calls `copy` with the element's place in `order` for each element of the tensor in its order.
template <class Copy>
void visit(const TensorRecord& tensor, std::span<const std::uint8_t> order, Copy copy) {
  std::size_t count = 1;
  for (int place = 0; place < tensor.rank; ++place) {
    count *= tensor.dims[place];
  }
  const auto steps = steps_in(tensor, order);
  std::array<std::uint32_t, kMaxRank> index = {};
  std::size_t given = 0;
  for (std::size_t made = 0; made < count; ++made) {
    copy(given, made);
    for (int place = tensor.rank - 1; place >= 0; --place) {
      given += steps[place];
      if (++index[place] < tensor.dims[place]) {
        break;
      }
      given -= steps[place] * tensor.dims[place];
      index[place] = 0;
    }
  }
}

std::size_t element_bytes(const TensorRecord& tensor) {
  std::size_t count = 1;
  for (int place = 0; place < tensor.rank; ++place) {
    count *= tensor.dims[place];
  }
  return count == 0 ? 0 : tensor.bytes / count;
}

}  // namespace

bool is_permutation(std::span<const std::uint8_t> order) {
  std::uint32_t found = 0;
  for (const auto dimension : order) {
    found |= dimension < order.size() ? 1U << dimension : 0;
  }
  return order.size() <= kMaxRank && found == (1U << order.size()) - 1;
}

void copy_into_order(const TensorRecord& tensor, std::span<const std::uint8_t> order,
                     const std::byte* given, std::byte* made) {
  const auto bytes = element_bytes(tensor);
  visit(tensor, order, [&](std::size_t from, std::size_t to) {
    std::memcpy(made + to * bytes, given + from * bytes, bytes);
  });
}

void copy_out_of_order(const TensorRecord& tensor, std::span<const std::uint8_t> order,
                       const std::byte* made, std::byte* given) {
  const auto bytes = element_bytes(tensor);
  visit(tensor, order, [&](std::size_t to, std::size_t from) {
    std::memcpy(given + to * bytes, made + from * bytes, bytes);
  });
}

}  // namespace fixedpoint
