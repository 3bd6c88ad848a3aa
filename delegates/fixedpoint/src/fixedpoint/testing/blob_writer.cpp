#include "fixedpoint/testing/blob_writer.h"

#include "fixedpoint/format.h"
#include "fixedpoint/program.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <vector>

namespace fixedpoint::testing {
namespace {

std::size_t align(std::size_t value) { return (value + kAlignment - 1) / kAlignment * kAlignment; }

std::uint64_t element_bytes(DType dtype) {
  switch (dtype) {
    case DType::kInt64:
      return 8;
    case DType::kInt32:
    case DType::kFloat32:
      return 4;
    case DType::kInt16:
      return 2;
    case DType::kInt8:
    case DType::kUint8:
      break;
  }
  return 1;
}

void put(std::vector<std::byte>& blob, std::span<const std::byte> section) {
  blob.insert(blob.end(), section.begin(), section.end());
  blob.resize(align(blob.size()));
}

}  // namespace

std::uint32_t BlobWriter::add_tensor(Dims dims, DType dtype, Place place, std::uint64_t offset) {
  TensorRecord tensor{.dtype = dtype,
                      .place = place,
                      .rank = static_cast<std::uint8_t>(dims.size()),
                      .offset = offset,
                      .bytes = element_bytes(dtype)};
  std::ranges::copy(dims, tensor.dims.begin());
  for (const auto dim : dims) {
    tensor.bytes *= dim;
  }
  tensors_.push_back(tensor);
  return static_cast<std::uint32_t>(tensors_.size() - 1);
}

std::uint32_t BlobWriter::add_input(Dims dims, DType dtype) {
  inputs_.push_back(add_tensor(dims, dtype, Place::kInput, inputs_.size()));
  return inputs_.back();
}

std::uint32_t BlobWriter::add_output(Dims dims, DType dtype) {
  outputs_.push_back(add_tensor(dims, dtype, Place::kOutput, outputs_.size()));
  return outputs_.back();
}

std::uint32_t BlobWriter::add_arena(Dims dims, DType dtype) {
  const auto tensor = add_tensor(dims, dtype, Place::kArena, arena_bytes_);
  arena_bytes_ = align(arena_bytes_ + tensors_[tensor].bytes);
  return tensor;
}

std::uint32_t BlobWriter::add_alias(Dims dims, std::uint32_t other) {
  const auto& there = tensors_[other];
  return add_tensor(dims, there.dtype, Place::kArena, there.offset);
}

std::uint32_t BlobWriter::add_content(Dims dims, DType dtype, std::span<const std::byte> content) {
  const auto tensor = add_tensor(dims, dtype, Place::kConstant, constants_.size());
  put(constants_, content);
  return tensor;
}

OperationRecord& BlobWriter::add_operation(Kind kind, std::initializer_list<std::uint32_t> inputs,
                                           std::uint32_t output,
                                           std::initializer_list<std::int32_t> attributes) {
  OperationRecord operation{.kind = kind,
                            .input_count = static_cast<std::uint16_t>(inputs.size()),
                            .first_input = static_cast<std::uint32_t>(indices_.size()),
                            .output = output,
                            .handle = static_cast<std::uint32_t>(operations_.size()),
                            .shift = 32,
                            .low = -128,
                            .high = 127};
  std::ranges::copy(attributes, operation.attributes.begin());
  indices_.insert(indices_.end(), inputs);
  operations_.push_back(operation);
  return operations_.back();
}

std::vector<std::byte> BlobWriter::bytes() const {
  const Header header{.arena_bytes = arena_bytes_,
                      .tensor_count = static_cast<std::uint32_t>(tensors_.size()),
                      .operation_count = static_cast<std::uint32_t>(operations_.size()),
                      .index_count = static_cast<std::uint32_t>(indices_.size()),
                      .input_count = static_cast<std::uint32_t>(inputs_.size()),
                      .output_count = static_cast<std::uint32_t>(outputs_.size()),
                      .alignment = kAlignment};
  auto boundary = inputs_;
  boundary.insert(boundary.end(), outputs_.begin(), outputs_.end());
  const std::size_t constants_at = sizeof(Header) + tensors_.size() * sizeof(TensorRecord) +
                                   operations_.size() * sizeof(OperationRecord) +
                                   align(indices_.size() * 4) + align(boundary.size() * 4);
  auto tensors = tensors_;
  for (auto& tensor : tensors) {
    tensor.offset += tensor.place == Place::kConstant ? constants_at : 0;
  }
  std::vector<std::byte> blob;
  put(blob, std::as_bytes(std::span(&header, 1)));
  put(blob, std::as_bytes(std::span(tensors)));
  put(blob, std::as_bytes(std::span(operations_)));
  put(blob, std::as_bytes(std::span(indices_)));
  put(blob, std::as_bytes(std::span(boundary)));
  put(blob, constants_);
  seal(blob);
  return blob;
}

void seal(std::vector<std::byte>& blob) {
  if (blob.size() < sizeof(Header)) {
    return;
  }
  blob.resize(blob.size() / 8 * 8);
  Header header;
  std::memcpy(&header, blob.data(), sizeof header);
  header.magic = kMagic;
  header.format_version = kFormatVersion;
  header.semantics_version = kSemanticsVersion;
  header.total_bytes = blob.size();
  std::memcpy(blob.data(), &header, sizeof header);
  header.checksum = checksum_of(blob);
  std::memcpy(blob.data(), &header, sizeof header);
}

}  // namespace fixedpoint::testing
