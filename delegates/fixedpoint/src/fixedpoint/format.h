#pragma once

#include <array>
#include <cstdint>

namespace fixedpoint {

/// The blob's parts as they lie in the file; little-endian, each section 64-byte aligned.
/// docs/contracts/fixedpoint.md describes them field by field.
constexpr std::array<char, 8> kMagic = {'F', 'X', 'P', 'T', '\r', '\n', '\x1a', '\n'};
constexpr std::uint32_t kFormatVersion = 2;
constexpr std::uint32_t kSemanticsVersion = 1;
constexpr std::uint32_t kAlignment = 64;
constexpr std::uint32_t kAbsent = 0xFFFFFFFF;
constexpr int kMaxRank = 6;

struct Header {
  std::array<char, 8> magic;
  std::uint32_t format_version;
  std::uint32_t semantics_version;
  std::uint64_t total_bytes;
  std::uint64_t arena_bytes;
  std::uint64_t checksum;
  std::uint32_t tensor_count;
  std::uint32_t operation_count;
  std::uint32_t index_count;
  std::uint32_t input_count;
  std::uint32_t output_count;
  std::uint32_t alignment;
};
static_assert(sizeof(Header) == 64);

enum class DType : std::uint8_t {
  kInt8 = 1,
  kInt16 = 2,
  kInt32 = 3,
  kInt64 = 4,
  kUint8 = 5,
  kFloat32 = 6
};
enum class Place : std::uint8_t { kArena = 0, kConstant = 1, kInput = 2, kOutput = 3 };

struct TensorRecord {
  DType dtype;
  Place place;
  std::uint8_t rank;
  std::uint8_t reserved;
  std::int32_t zero_point;
  /// Into the arena or the blob; the position among inputs or outputs.
  std::uint64_t offset;
  std::uint64_t bytes;
  std::array<std::uint32_t, kMaxRank> dims;
  /// For people; no kernel reads it.
  double scale;
  /// Dimensions of an input or output as they are stored, outermost first, four bits each from the
  /// lowest on. 0: as they are.
  std::uint32_t order;
  std::uint32_t reserved_word;
};
static_assert(sizeof(TensorRecord) == 64);

enum class Kind : std::uint16_t {
  kConv2d = 1,
  kAdd = 2,
  kMul = 3,
  kAvgPool2d = 4,
  kMaxPool2d = 5,
  kTable = 6,
  kCopy = 7,
  kConcat = 8,
  kQuantize = 9,
  kDequantize = 10,
  kMatmul = 11,
  kSoftmax = 12,
  kLayerNorm = 13,
  kEmbedding = 14,
  kMaskedSoftmax = 15,
};

/// Rounding of a result between two integers.
enum class Rounding : std::int32_t { kHalfUp = 0, kHalfEven = 1 };

struct OperationRecord {
  Kind kind;
  std::uint16_t input_count;
  std::uint32_t first_input;
  std::uint32_t output;
  /// Identifies the operation in profiles.
  std::uint32_t handle;
  std::array<std::int32_t, 2> multipliers;
  std::int32_t shift;
  std::int32_t low;
  std::int32_t high;
  std::int32_t rounding;
  std::int64_t bias;
  std::array<std::int32_t, 20> attributes;
};
static_assert(sizeof(OperationRecord) == 128);

}  // namespace fixedpoint
