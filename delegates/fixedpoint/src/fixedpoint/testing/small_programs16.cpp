#include "fixedpoint/format.h"
#include "fixedpoint/testing/blob_writer.h"
#include "fixedpoint/testing/program_parts.h"
#include "fixedpoint/testing/small_programs.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fixedpoint::testing {
namespace {

constexpr auto kType = DType::kInt16;
constexpr std::int32_t kLow = -32768;
constexpr std::int32_t kHigh = 32767;

/// From float32 through a convolution and one of two groups with a stride to int16.
std::vector<std::byte> convolutions() {
  BlobWriter blob;
  const auto in = blob.add_input({1, 3, 4, 4}, DType::kFloat32);
  const auto image = blob.add_arena({1, 4, 4, 3}, kType);
  const auto wide = blob.add_arena({1, 4, 4, 6}, kType);
  const auto out = blob.add_output({1, 2, 2, 4}, kType);
  auto& read = blob.add_operation(
      Kind::kQuantize, {in}, image,
      {2, 0, 16, 3, 0, 0, 0, 0, 1, 16, 0, 0, 0, 0, 0, std::bit_cast<std::int32_t>(64.0F)});
  read.low = kLow;
  read.high = kHigh;
  const auto first = add_constants(blob, 6, 3, 3);
  auto& conv = blob.add_operation(
      Kind::kConv2d, {image, first.weights, first.multipliers, first.shifts, first.biases}, wide,
      {1, 4, 4, 3, 4, 4, 6, 3, 3, 1, 1, 1, 1, 1, 1, 1, 0});
  conv.low = 0;
  conv.high = kHigh;
  const auto second = add_constants(blob, 4, 3, 3);
  blob.add_operation(
      Kind::kConv2d,
      {wide, second.weights, second.multipliers, second.shifts, second.biases, kAbsent}, out,
      {1, 4, 4, 6, 2, 2, 4, 3, 3, 2, 2, 1, 1, 1, 1, 2, 0});
  return blob.bytes();
}

/// An interpolated table, a sum in its place, a product with rows and one with a constant.
std::vector<std::byte> elementwise() {
  BlobWriter blob;
  const auto a = blob.add_input({2, 3, 5}, kType);
  const auto b = blob.add_input({2, 3, 5}, kType);
  const auto gate = blob.add_input({2, 1, 5}, kType);
  const auto table = blob.add_constant({513}, kType, pattern<std::int16_t>(513, 101, 250));
  const auto one = blob.add_constant({1}, kType, std::vector<std::int16_t>{-1});
  const auto looked_up = blob.add_arena({2, 3, 5}, kType);
  const auto sum = blob.add_alias({2, 3, 5}, looked_up);
  const auto product = blob.add_arena({2, 3, 5}, kType);
  const auto out = blob.add_output({2, 3, 5}, kType);
  blob.add_operation(Kind::kTable, {a, table}, looked_up, {30});
  auto& add = blob.add_operation(Kind::kAdd, {looked_up, b}, sum, {30});
  add.multipliers = {1 << 28, 1 << 27};
  add.shift = 28;
  add.bias = std::int64_t{3} << 27;
  add.low = kLow;
  add.high = kHigh;
  auto& mul = blob.add_operation(Kind::kMul, {sum, gate}, product, {2, 3, 5, 0, 0});
  mul.multipliers = {kMultiplier, 0};
  mul.shift = 45;
  mul.rounding = static_cast<std::int32_t>(Rounding::kHalfEven);
  auto& line = blob.add_operation(Kind::kMul, {product, one}, out, {1, 30, 1, 0, 0});
  line.multipliers = {kMultiplier, 0};
  line.shift = 31;
  line.bias = std::int64_t{77} << 30;
  return blob.bytes();
}

/// Windows with padding, windows of largest values, joined, turned, to float32.
std::vector<std::byte> pools_and_moves() {
  BlobWriter blob;
  const auto in = blob.add_input({1, 5, 5, 3}, kType);
  const auto average = blob.add_arena({1, 5, 5, 3}, kType);
  const auto most = blob.add_arena({1, 2, 2, 3}, kType);
  const auto joined = blob.add_arena({2, 12}, kType);
  const auto turned = blob.add_arena({3, 2, 4}, kType);
  const auto out = blob.add_output({3, 2, 4}, DType::kFloat32);
  auto& mean =
      blob.add_operation(Kind::kAvgPool2d, {in}, average, {1, 5, 5, 3, 5, 5, 3, 3, 1, 1, 1, 1, 0});
  mean.multipliers = {kMultiplier, 0};
  mean.shift = 34;
  mean.low = kLow;
  mean.high = kHigh;
  blob.add_operation(Kind::kMaxPool2d, {average}, most, {1, 5, 5, 3, 2, 2, 2, 3, 2, 2, 0, 1, 2, 1});
  blob.add_operation(Kind::kConcat, {most, most}, joined, {2});
  blob.add_operation(Kind::kCopy, {joined}, turned, {3, 0, 3, 2, 4, 0, 0, 0, 1, 12, 3});
  blob.add_operation(
      Kind::kDequantize, {turned}, out,
      {1, 0, 24, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, std::bit_cast<std::int32_t>(0.25F)});
  return blob.bytes();
}

/// A layer norm, a product of matrices, a softmax.
std::vector<std::byte> attention() {
  BlobWriter blob;
  const auto in = blob.add_input({4, 6}, kType);
  const auto normal = blob.add_arena({4, 6}, kType);
  const auto scores = blob.add_arena({4, 4}, kType);
  const auto out = blob.add_output({4, 4}, kType);
  const auto numbers = add_constants(blob, 6, 1, 1);
  auto& norm = blob.add_operation(
      Kind::kLayerNorm, {in, numbers.multipliers, numbers.shifts, numbers.biases}, normal, {4, 6});
  norm.bias = 1000;
  norm.low = kLow;
  norm.high = kHigh;
  auto& matmul = blob.add_operation(Kind::kMatmul, {normal, normal}, scores, {1, 4, 4, 6, 0, 0});
  matmul.multipliers = {kMultiplier, 0};
  matmul.shift = 44;
  std::vector<std::int32_t> exponentials(512, 1 << 30);
  for (int i = 1; i < 256; ++i) {
    exponentials[i] = (1 << 30) / (i * i);
    exponentials[256 + i] = (1 << 30) - (i << 20);
  }
  const auto table = blob.add_constant({512}, DType::kInt32, exponentials);
  auto& softmax = blob.add_operation(Kind::kSoftmax, {scores, table}, out, {4, 4});
  softmax.multipliers = {1 << 30, 0};
  softmax.shift = 45;
  softmax.high = kHigh;
  return blob.bytes();
}

}  // namespace

std::vector<SmallProgram> small_programs_of_16_bits() {
  return {{"convolutions16", convolutions()},
          {"elementwise16", elementwise()},
          {"pools_and_moves16", pools_and_moves()},
          {"attention16", attention()}};
}

}  // namespace fixedpoint::testing
