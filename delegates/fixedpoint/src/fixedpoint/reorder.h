#pragma once

#include "fixedpoint/format.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace fixedpoint {

/// True if each number below their count occurs once.
bool is_permutation(std::span<const std::uint8_t> order);

/// Copies an argument whose dimensions ExecuTorch stores in `order`, outermost first, into the
/// order of the tensor: its own passes change layouts after a network was lowered, as before an
/// operator that knows no channels last. `order`: a permutation of the tensor's dimensions.
void copy_into_order(const TensorRecord& tensor, std::span<const std::uint8_t> order,
                     const std::byte* given, std::byte* made);

/// The way back, for what the delegate has computed.
void copy_out_of_order(const TensorRecord& tensor, std::span<const std::uint8_t> order,
                       const std::byte* made, std::byte* given);

}  // namespace fixedpoint
