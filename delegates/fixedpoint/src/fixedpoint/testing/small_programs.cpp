#include "fixedpoint/testing/small_programs.h"

#include "fixedpoint/format.h"
#include "fixedpoint/testing/blob_writer.h"
#include "fixedpoint/testing/program_parts.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace fixedpoint::testing {
namespace {

std::uint32_t add_table(BlobWriter& blob) {
  return blob.add_constant({256}, DType::kInt8, pattern(256, 101));
}

/// A 3x3 convolution with a table, a depthwise one with a stride, one of two groups.
std::vector<std::byte> convolutions() {
  BlobWriter blob;
  const auto in = blob.add_input({1, 4, 4, 3});
  const auto wide = blob.add_arena({1, 4, 4, 18});
  const auto deep = blob.add_arena({1, 2, 2, 18});
  const auto out = blob.add_output({1, 2, 2, 4});
  const auto first = add_constants(blob, 18, 3, 3);
  const auto table = add_table(blob);
  blob.add_operation(Kind::kConv2d,
                     {in, first.weights, first.multipliers, first.shifts, first.biases, table},
                     wide, {1, 4, 4, 3, 4, 4, 18, 3, 3, 1, 1, 1, 1, 1, 1, 1, -3});
  const auto second = add_constants(blob, 18, 3, 1);
  blob.add_operation(Kind::kConv2d,
                     {wide, second.weights, second.multipliers, second.shifts, second.biases}, deep,
                     {1, 4, 4, 18, 2, 2, 18, 3, 3, 2, 2, 1, 1, 1, 1, 18, 7});
  const auto third = add_constants(blob, 4, 1, 9);
  blob.add_operation(Kind::kConv2d,
                     {deep, third.weights, third.multipliers, third.shifts, third.biases, kAbsent},
                     out, {1, 2, 2, 18, 2, 2, 4, 1, 1, 1, 1, 0, 0, 1, 1, 2, 0});
  return blob.bytes();
}

/// A sum that takes over its input, a reshape that moves nothing, a product by rows, a table.
std::vector<std::byte> elementwise() {
  BlobWriter blob;
  const auto a = blob.add_input({2, 3, 5});
  const auto b = blob.add_input({2, 3, 5});
  const auto gate = blob.add_input({2, 1, 5});
  const auto table = add_table(blob);
  const auto looked_up = blob.add_arena({2, 3, 5});
  const auto sum = blob.add_alias({2, 3, 5}, looked_up);
  const auto flat = blob.add_alias({30}, looked_up);
  const auto out = blob.add_output({2, 3, 5});
  blob.add_operation(Kind::kTable, {a, table}, looked_up, {30});
  auto& add = blob.add_operation(Kind::kAdd, {looked_up, b}, sum, {30});
  add.multipliers = {1 << 28, 1 << 27};
  add.shift = 28;
  add.bias = std::int64_t{3} << 27;
  blob.add_operation(Kind::kCopy, {sum}, flat, {1, 0, 30, 0, 0, 0, 0, 0, 1});
  auto& mul = blob.add_operation(Kind::kMul, {flat, gate}, out, {2, 3, 5, -4, 9});
  mul.multipliers = {kMultiplier, 0};
  mul.shift = 37;
  return blob.bytes();
}

/// The three pools: windows with padding, windows of largest values, whole images.
std::vector<std::byte> pools() {
  BlobWriter blob;
  const auto in = blob.add_input({1, 5, 5, 3});
  const auto average = blob.add_arena({1, 5, 5, 3});
  const auto most = blob.add_arena({1, 2, 2, 3});
  const auto out = blob.add_output({1, 1, 1, 3});
  auto& mean =
      blob.add_operation(Kind::kAvgPool2d, {in}, average, {1, 5, 5, 3, 5, 5, 3, 3, 1, 1, 1, 1, -9});
  mean.multipliers = {kMultiplier, 0};
  mean.shift = 34;
  blob.add_operation(Kind::kMaxPool2d, {average}, most, {1, 5, 5, 3, 2, 2, 2, 3, 2, 2, 0, 1, 2, 1});
  auto& all =
      blob.add_operation(Kind::kAvgPool2d, {most}, out, {1, 2, 2, 3, 1, 1, 2, 2, 1, 1, 0, 0, 0});
  all.multipliers = {kMultiplier, 0};
  all.shift = 33;
  return blob.bytes();
}

/// From float32, channels first, to int8 and back, joined and permuted between.
std::vector<std::byte> moves() {
  BlobWriter blob;
  const auto in = blob.add_input({1, 3, 2, 4}, DType::kFloat32);
  const auto image = blob.add_arena({1, 2, 4, 3});
  const auto joined = blob.add_arena({2, 24});
  const auto turned = blob.add_arena({12, 2, 2});
  const auto out = blob.add_output({12, 2, 2}, DType::kFloat32);
  const auto factor = std::bit_cast<std::int32_t>(0.25F);
  blob.add_operation(Kind::kQuantize, {in}, image,
                     {2, 0, 8, 3, 0, 0, 0, 0, 1, 8, 0, 0, 0, 0, 4, factor});
  blob.add_operation(Kind::kConcat, {image, image}, joined, {2});
  blob.add_operation(Kind::kCopy, {joined}, turned, {3, 0, 12, 2, 2, 0, 0, 0, 2, 1, 24});
  blob.add_operation(Kind::kDequantize, {turned}, out,
                     {1, 0, 48, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 4, factor});
  return blob.bytes();
}

/// Softmax of rows under a mask that is an input, for both halves the same, and under a constant.
std::vector<std::byte> masks() {
  BlobWriter blob;
  const auto in = blob.add_input({2, 3, 4});
  const auto given = blob.add_input({3, 4}, DType::kUint8);
  const auto fixed = blob.add_constant({4}, DType::kUint8, std::vector<std::uint8_t>{0, 1, 0, 9});
  const auto first = blob.add_arena({2, 3, 4});
  const auto out = blob.add_output({2, 3, 4});
  std::vector<std::int32_t> exponentials(256, 1 << 30);
  for (int i = 1; i < 256; ++i) {
    exponentials[i] = (1 << 30) / i;
  }
  const auto table = blob.add_constant({256}, DType::kInt32, exponentials);
  auto& by_input = blob.add_operation(Kind::kMaskedSoftmax, {in, table, given}, first,
                                      {3, 0, 2, 3, 4, 0, 0, 0, 0, 4, 1, 0, 0, 0, 6, 4, 1, 1});
  by_input.multipliers = {1 << 30, 0};
  by_input.shift = 53;
  auto& by_constant = blob.add_operation(Kind::kMaskedSoftmax, {first, table, fixed}, out,
                                         {2, 0, 6, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 6, 4, 0, 0});
  by_constant.multipliers = {1 << 30, 0};
  by_constant.shift = 54;
  return blob.bytes();
}

/// Rows of two tables by indices of 64 and of 32 bits, turned, the second by constants.
std::vector<std::byte> embeddings() {
  BlobWriter blob;
  const auto in = blob.add_input({2, 3}, DType::kInt64);
  const auto chosen = blob.add_arena({3, 2, 4});
  const auto out = blob.add_output({2, 4}, DType::kInt16);
  const auto small = add_constants(blob, 3, 1, 4);
  const auto wide = add_constants(blob, 5, 1, 4);
  const auto order = blob.add_constant({2}, DType::kInt32, std::vector<std::int32_t>{4, 1});
  blob.add_operation(Kind::kEmbedding,
                     {in, small.weights, small.multipliers, small.shifts, small.biases}, chosen,
                     {2, 0, 3, 2, 0, 0, 0, 0, 1, 3, 0, 0, 0, 0, 3, 4});
  blob.add_operation(Kind::kEmbedding,
                     {order, wide.weights, wide.multipliers, wide.shifts, wide.biases}, out,
                     {1, 0, 2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 5, 4});
  return blob.bytes();
}

}  // namespace

std::vector<SmallProgram> small_programs() {
  std::vector<SmallProgram> programs = {{"convolutions", convolutions()},
                                        {"elementwise", elementwise()},
                                        {"pools", pools()},
                                        {"moves", moves()},
                                        {"embeddings", embeddings()},
                                        {"masks", masks()}};
  for (auto& program : small_programs_of_16_bits()) {
    programs.push_back(std::move(program));
  }
  return programs;
}

}  // namespace fixedpoint::testing
