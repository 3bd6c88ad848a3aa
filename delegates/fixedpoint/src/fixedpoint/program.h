#pragma once

#include "fixedpoint/format.h"
#include "fixedpoint/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fixedpoint {

/// A blob that has been checked: every index, offset and size in it is within its bounds.
///
/// Views into the blob: it must outlive the program, aligned to 16 bytes.
struct Program {
  std::span<const std::byte> blob;
  std::uint64_t arena_bytes = 0;
  std::vector<TensorRecord> tensors;
  std::vector<OperationRecord> operations;
  /// Input tensors of all operations, one list; kAbsent stands for none.
  std::vector<std::uint32_t> indices;
  std::vector<std::uint32_t> inputs;
  std::vector<std::uint32_t> outputs;

  std::span<const std::uint32_t> inputs_of(const OperationRecord& operation) const {
    return std::span(indices).subspan(operation.first_input, operation.input_count);
  }
  const std::byte* constant(const TensorRecord& tensor) const {
    return blob.data() + tensor.offset;
  }
};

/// Reads and checks a blob: versions, checksum, bounds of every section and tensor, that sizes of
/// tensors are those of their shapes, that no tensor is written while another that lives lies
/// there. What single operations need is checked by `check_operations`.
Result<Program> read_program(std::span<const std::byte> blob);

/// The dimension that is stored at a place, outermost first.
std::uint32_t dimension_at(const TensorRecord& tensor, int place);

/// True if an argument whose dimensions lie in this order, outermost first, is stored as the tensor
/// is. Dimensions of size 1 lie anywhere.
bool has_order(const TensorRecord& tensor, std::span<const std::uint8_t> order);

/// True if a copy keeps every byte where it is.
bool is_reshape(const OperationRecord& operation);

/// The sum over all 64-bit words, each times an odd number that tells its place, the checksum's
/// own word taken as zero.
std::uint64_t checksum_of(std::span<const std::byte> blob);

}  // namespace fixedpoint
