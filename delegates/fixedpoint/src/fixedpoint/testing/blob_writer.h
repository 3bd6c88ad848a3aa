#pragma once

#include "fixedpoint/format.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace fixedpoint::testing {

/// Writes small blobs by hand, for tests: each tensor of the arena has a place of its own, unless
/// it says otherwise.
class BlobWriter {
 public:
  using Dims = std::initializer_list<std::uint32_t>;

  /// Each returns the tensor's number. Inputs and outputs are listed in the order of the calls.
  std::uint32_t add_input(Dims dims, DType dtype = DType::kInt8);
  std::uint32_t add_output(Dims dims, DType dtype = DType::kInt8);
  std::uint32_t add_arena(Dims dims, DType dtype = DType::kInt8);
  /// In the arena, where `other` lies, of its type.
  std::uint32_t add_alias(Dims dims, std::uint32_t other);
  template <class T>
  std::uint32_t add_constant(Dims dims, DType dtype, const std::vector<T>& content) {
    return add_content(dims, dtype, std::as_bytes(std::span(content)));
  }

  /// With bounds of int8 and a shift of 32; the record may be changed until the next call.
  OperationRecord& add_operation(Kind kind, std::initializer_list<std::uint32_t> inputs,
                                 std::uint32_t output,
                                 std::initializer_list<std::int32_t> attributes);

  /// The blob, sealed.
  std::vector<std::byte> bytes() const;

 private:
  std::uint32_t add_tensor(Dims dims, DType dtype, Place place, std::uint64_t offset);
  std::uint32_t add_content(Dims dims, DType dtype, std::span<const std::byte> content);

  std::vector<TensorRecord> tensors_;
  std::vector<OperationRecord> operations_;
  std::vector<std::uint32_t> indices_;
  std::vector<std::uint32_t> inputs_;
  std::vector<std::uint32_t> outputs_;
  std::vector<std::byte> constants_;
  std::uint64_t arena_bytes_ = 0;
};

/// Writes the magic, the versions, the size and the checksum that belong to the bytes into a
/// blob's header, so that what else it holds is looked at. Cuts it to whole words; nothing happens
/// to what is shorter than a header.
void seal(std::vector<std::byte>& blob);

}  // namespace fixedpoint::testing
