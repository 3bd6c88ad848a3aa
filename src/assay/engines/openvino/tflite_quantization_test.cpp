#include "assay/engines/openvino/tflite_quantization.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <span>
#include <string_view>
#include <vector>

#include "assay/base/fs.h"
#include "assay/record/launch.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay::openvino {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

/// Writes a FlatBuffer from its root to its leaves.
class FlatWriter {
 public:
  std::vector<std::byte> bytes;

  template <class T>
  std::size_t put(T value) {
    const auto at = bytes.size();
    bytes.resize(at + sizeof(T));
    std::memcpy(bytes.data() + at, &value, sizeof(T));
    return at;
  }

  /// Lets the offset at `from` lead to what is written next.
  void lead_here(std::size_t from) {
    const auto offset = static_cast<std::uint32_t>(bytes.size() - from);
    std::memcpy(bytes.data() + from, &offset, sizeof offset);
  }

  /// A table of so many fields of 8 bytes, of which `used` are there; returns where its fields lie.
  std::vector<std::size_t> table(std::size_t leads, std::size_t fields,
                                 const std::vector<std::size_t>& used) {
    const auto vtable = bytes.size();
    put(static_cast<std::uint16_t>(4 + 2 * fields));
    put(static_cast<std::uint16_t>(4 + 8 * used.size()));
    std::vector<std::size_t> offsets(fields, 0);
    for (std::size_t i = 0; i < used.size(); ++i) {
      offsets[used[i]] = 4 + 8 * i;
    }
    for (const auto offset : offsets) {
      put(static_cast<std::uint16_t>(offset));
    }
    lead_here(leads);
    const auto begin = put(static_cast<std::int32_t>(bytes.size() - vtable));
    bytes.resize(bytes.size() + 8 * used.size());
    std::vector<std::size_t> places;
    places.reserve(used.size());
    for (const auto field : used) {
      places.push_back(begin + offsets[field]);
    }
    return places;
  }

  template <class T>
  std::size_t vector(std::size_t leads, const std::vector<T>& values) {
    lead_here(leads);
    put(static_cast<std::uint32_t>(values.size()));
    const auto begin = bytes.size();
    for (const auto& value : values) {
      put(value);
    }
    return begin;
  }

  void tensor(std::size_t leads, std::uint8_t type, std::string_view name,
              const std::vector<float>& scales, const std::vector<std::int64_t>& zero_points,
              std::int32_t axis) {
    const auto at = table(leads, 5, {1, 3, 4});
    bytes[at[0]] = std::byte{type};
    vector(at[1], std::vector<char>(name.begin(), name.end()));
    const auto quantization = table(at[2], 7, {2, 3, 6});
    std::memcpy(bytes.data() + quantization[2], &axis, sizeof axis);
    vector(quantization[0], scales);
    vector(quantization[1], zero_points);
  }
};

/// An int8 input "x", and two outputs: "y" with a scale for each index, and a floating "z".
std::vector<std::byte> program() {
  constexpr std::uint8_t kInt8 = 9;
  constexpr std::uint8_t kFloat32 = 0;
  FlatWriter writer;
  const auto root = writer.put(std::uint32_t{0});
  writer.put(std::uint32_t{0x334c4654});  // "TFL3"
  const auto model = writer.table(root, 3, {2});
  const auto graphs = writer.vector<std::uint32_t>(model[0], {0});
  const auto graph = writer.table(graphs, 3, {0, 1, 2});
  const auto tensors = writer.vector<std::uint32_t>(graph[0], {0, 0, 0});
  writer.vector<std::int32_t>(graph[1], {1});
  writer.vector<std::int32_t>(graph[2], {0, 2});
  writer.tensor(tensors, kInt8, "y", {0.5F, 0.25F}, {1, 2}, 1);
  writer.tensor(tensors + 8, kFloat32, "z", {0.125F}, {0}, 0);
  writer.tensor(tensors + 4, kInt8, "x", {0.125F}, {-7}, 0);
  return writer.bytes;
}

TEST(TfliteQuantization, IsFoundForIntegersOfTheSignature) {
  const auto signature = find_tflite_signature(program());
  ASSERT_TRUE(signature);
  ASSERT_THAT(signature->inputs, SizeIs(1));
  ASSERT_THAT(signature->outputs, SizeIs(2));
  const auto& x = signature->inputs[0];
  EXPECT_EQ(x.name, "x");
  EXPECT_THAT(x.quantization->scales, ElementsAre(0.125));
  EXPECT_THAT(x.quantization->zero_points, ElementsAre(-7));
  EXPECT_EQ(x.quantization->axis, -1) << "one scale is that of the whole tensor";
  const auto& y = signature->outputs[0];
  EXPECT_THAT(y.quantization->scales, ElementsAre(0.5, 0.25));
  EXPECT_EQ(y.quantization->axis, 1);
  EXPECT_FALSE(signature->outputs[1].quantization) << "floating";
}

TEST(TfliteQuantization, IsAbsentWhereAFileIsCut) {
  const auto whole = program();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(find_tflite_signature(std::span(whole).first(size))) << size;
  }
}

TEST(TfliteQuantization, NeverReadsOutsideOfDamagedBytes) {
  const auto whole = program();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const auto value : {std::byte{0xff}, std::byte{0x7f}, std::byte{0}}) {
      auto damaged = whole;
      damaged[at] = value;
      (void)find_tflite_signature(damaged);
    }
  }
}

TEST(TfliteQuantization, IsAddedByNameOrElseByPlace) {
  const auto folder = TemporaryFolder::make("tflite").value();
  const auto file = folder.path() / "m.tflite";
  const auto bytes = program();
  ASSERT_TRUE(
      write_file_atomically(file, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  LoadReport report;
  report.inputs = {
      {.name = "serving_x:0", .dtype = Dtype::kInt8, .shape = {1}, .quantization = {}}};
  report.outputs = {{.name = "z", .dtype = Dtype::kFloat32, .shape = {1}, .quantization = {}},
                    {.name = "y", .dtype = Dtype::kInt8, .shape = {1, 2}, .quantization = {}}};
  add_tflite_quantization(file, report);
  EXPECT_THAT(report.inputs[0].quantization->scales, ElementsAre(0.125));
  EXPECT_FALSE(report.outputs[0].quantization);
  EXPECT_THAT(report.outputs[1].quantization->scales, ElementsAre(0.5, 0.25));
}

}  // namespace
}  // namespace assay::openvino
