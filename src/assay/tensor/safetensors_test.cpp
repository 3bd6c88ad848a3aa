#include "assay/tensor/safetensors.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/resource.h>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Length, header and `data_bytes` zeros, as a hostile file would put them.
std::vector<std::byte> document(std::string_view header, std::size_t data_bytes) {
  std::string text(8, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(text.data(), &length, sizeof length);
  text += header;
  text.resize(text.size() + data_bytes);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

void expect_refused(std::string_view header, std::size_t data_bytes, std::string_view why,
                    ErrorCode code = ErrorCode::kCorrupt) {
  const auto result = tensors_from_safetensors(document(header, data_bytes));
  ASSERT_FALSE(result) << header;
  EXPECT_EQ(result.error().code, code) << header;
  EXPECT_THAT(result.error().message, HasSubstr(why)) << header;
}

Tensor counting_tensor(Dtype dtype, Shape shape) {
  auto tensor = Tensor::zeros(dtype, std::move(shape));
  for (std::size_t i = 0; i < tensor.data.size(); ++i) {
    tensor.data[i] = static_cast<std::byte>(i);
  }
  return tensor;
}

TEST(Safetensors, GroupsManySamplesInOnePass) {
  std::vector<NamedTensor> tensors;
  for (int i = 0; i < 30'000; ++i) {
    tensors.push_back({std::to_string(i) + ".0", Tensor::zeros(Dtype::kFloat32, {0})});
  }
  EXPECT_EQ(samples_from_tensors(tensors).value().size(), 30'000U);
  EXPECT_EQ(samples_from_tensors(tensors, 2).value().size(), 2U);
  EXPECT_EQ(samples_from_tensors(tensors, 30'001).error().code, ErrorCode::kNotFound);
}

TEST(Safetensors, KeepsEveryDtypeAndShape) {
  std::vector<NamedTensor> tensors;
  tensors.reserve(kEnumNames<Dtype>.size() + 2);
  for (const auto& [dtype, name] : kEnumNames<Dtype>) {
    tensors.push_back({std::string(name), counting_tensor(dtype, {3, 2})});
  }
  tensors.push_back({"scalar", counting_tensor(Dtype::kFloat32, {})});
  tensors.push_back({"empty", counting_tensor(Dtype::kInt16, {0, 4})});
  const auto back = tensors_from_safetensors(safetensors_from_tensors(tensors));
  ASSERT_TRUE(back) << back.error().message;
  ASSERT_EQ(back->size(), tensors.size());
  EXPECT_TRUE(std::ranges::is_sorted(*back, {}, &NamedTensor::name));
  for (const auto& [name, tensor] : tensors) {
    const auto found = std::ranges::find(*back, name, &NamedTensor::name);
    ASSERT_NE(found, back->end()) << name;
    EXPECT_EQ(found->tensor.dtype, tensor.dtype) << name;
    EXPECT_EQ(found->tensor.shape, tensor.shape) << name;
    EXPECT_EQ(found->tensor.data, tensor.data) << name;
  }
}

TEST(Safetensors, AlignsTheDataAndEachTensor) {
  const std::vector<NamedTensor> tensors = {{"a", counting_tensor(Dtype::kUInt8, {3})},
                                            {"b", counting_tensor(Dtype::kFloat64, {1})}};
  const auto bytes = safetensors_from_tensors(tensors);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  EXPECT_EQ(length % 8, 0U);
  EXPECT_EQ(bytes[8 + length + 7], std::byte{7});  // The double comes first.
}

// Written by the safetensors 0.8.0 Python package:
// safetensors.numpy.save({"x": numpy.array([[1, 2]], "<i2")}, metadata={"k": "v"})
TEST(Safetensors, ReadsWhatThePythonPackageWrites) {
  const auto bytes = document(
      R"({"__metadata__":{"k":"v"},"x":{"dtype":"I16","shape":[1,2],"data_offsets":[0,4]}}   )", 4);
  const auto back = tensors_from_safetensors(bytes);
  ASSERT_TRUE(back) << back.error().message;
  ASSERT_EQ(back->size(), 1U);
  EXPECT_EQ(back->front().tensor.shape, (Shape{1, 2}));
}

TEST(Safetensors, RefusesOffsetsOutsideTheData) {
  expect_refused(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 3, "outside");
  expect_refused(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[4,0]}})", 4, "outside");
  expect_refused(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[0]}})", 4, "outside");
  expect_refused(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[18446744073709551612,0]}})", 4,
                 "outside");
}

TEST(Safetensors, RefusesOverlapHolesAndLeftovers) {
  expect_refused(
      R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},
          "y":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
      6, "overlapping");
  expect_refused(R"({"x":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})", 4, "hole");
  expect_refused(R"({"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 4, "no tensor");
  expect_refused("{}", 4, "no tensor");
}

TEST(Safetensors, RefusesShapesThatDoNotFit) {
  expect_refused(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4, "needs 8 bytes");
  expect_refused(R"({"x":{"dtype":"U8","shape":[-1],"data_offsets":[0,4]}})", 4, "whole number");
  expect_refused(R"({"x":{"dtype":"U8","shape":[1.5],"data_offsets":[0,4]}})", 4, "whole number");
  expect_refused(R"({"x":{"dtype":"F64","shape":[4294967296,4294967296,4],"data_offsets":[0,0]}})",
                 0, "too large");
  expect_refused(R"({"x":{"dtype":"U8","shape":[9223372036854775808,0],"data_offsets":[0,0]}})", 0,
                 "too large");
}

TEST(Safetensors, RefusesDuplicateNamesAndFields) {
  expect_refused(
      R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},
          "x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
      1, "duplicate key 'x'");
  expect_refused(R"({"x":{"dtype":"U8","shape":[1],"shape":[1],"data_offsets":[0,1]}})", 1,
                 "duplicate key 'shape'");
}

TEST(Safetensors, RefusesWhatIsNotAHeader) {
  expect_refused("[1]", 0, "not a JSON object");
  expect_refused("{", 0, "not valid JSON");
  expect_refused(R"({"x":3})", 0, "not an object");
  expect_refused(R"({"x":{"shape":[],"data_offsets":[0,1]}})", 1, "no dtype");
  expect_refused(R"({"x":{"dtype":"U8","data_offsets":[0,1]}})", 1, "no list 'shape'");
  expect_refused(R"({"x":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}})", 1, "F8_E4M3",
                 ErrorCode::kUnsupported);
  expect_refused(std::string(100'000, '['), 0, "nested deeper than 64 levels");
  expect_refused(R"({"x":)" + std::string(100'000, '[') + "}", 0, "nested deeper than 64 levels");
  expect_refused("{\"\xff\":3}", 0, "not valid JSON");
}

TEST(Safetensors, RefusesLengthsThatLie) {
  auto bytes = document("{}", 0);
  EXPECT_TRUE(tensors_from_safetensors(bytes));
  bytes[0] = std::byte{3};
  EXPECT_FALSE(tensors_from_safetensors(bytes));
  bytes[7] = std::byte{0xff};
  EXPECT_FALSE(tensors_from_safetensors(bytes));
  EXPECT_FALSE(tensors_from_safetensors(std::span(bytes).first(7)));
  EXPECT_FALSE(tensors_from_safetensors({}));
}

TEST(Safetensors, SurvivesEveryTruncation) {
  const std::vector<NamedTensor> tensors = {{"0.0", counting_tensor(Dtype::kFloat32, {2, 2})},
                                            {"0.1", counting_tensor(Dtype::kBool, {5})}};
  const auto bytes = safetensors_from_tensors(tensors);
  ASSERT_TRUE(tensors_from_safetensors(bytes));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(tensors_from_safetensors(std::span(bytes).first(size))) << size;
  }
}

TEST(Safetensors, ReadsFilesAndNamesThemInErrors) {
  const auto folder = TemporaryFolder::make("safetensors");
  ASSERT_TRUE(folder);
  const auto path = folder->path() / "x.safetensors";
  ASSERT_TRUE(write_file_atomically(path, "nonsense"));
  const auto result = read_safetensors(path);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr(path.string()));
  EXPECT_EQ(read_safetensors(folder->path() / "absent").error().code, ErrorCode::kNotFound);
}

/// A file of so many samples of one tensor of two numbers, the first of which is the sample's.
std::filesystem::path file_of_samples(const TemporaryFolder& folder, int count) {
  std::vector<NamedTensor> tensors;
  for (int i = 0; i < count; ++i) {
    tensors.push_back({fmt::format("{}.0", i),
                       tensor_from_doubles(std::vector<double>{1.0 * i, 7}, {2}, Dtype::kFloat32)});
  }
  const auto bytes = safetensors_from_tensors(tensors);
  const auto path = folder.path() / "samples.safetensors";
  EXPECT_TRUE(
      write_file_atomically(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  return path;
}

TEST(Samples, OfAFileAreReadWithoutTheOthers) {
  const auto folder = TemporaryFolder::make("safetensors").value();
  const auto path = file_of_samples(folder, 12);
  EXPECT_EQ(count_samples_of_file(path), 12);
  const auto two = read_samples(path, 2).value();
  ASSERT_EQ(two.size(), 2U);
  EXPECT_THAT(doubles_from_tensor(two[1][0].view()), ElementsAre(1, 7));
  const auto names = [](std::string_view name) { return name == "10.0"; };
  const auto one = read_safetensors_where(path, names).value();
  ASSERT_EQ(one.size(), 1U);
  EXPECT_THAT(doubles_from_tensor(one[0].tensor.view()), ElementsAre(10, 7));
}

TEST(Samples, OfAFileAreNotReadBeyondThoseThatAreWanted) {
  const auto folder = TemporaryFolder::make("safetensors").value();
  const auto path = file_of_samples(folder, 1);
  // A hole of 4 GB behind the first sample: who reads it all needs as much memory.
  constexpr std::uint64_t kHole = 4ULL << 30;
  const auto header = fmt::format(R"({{"0.0":{{"dtype":"F32","shape":[2],"data_offsets":[0,8]}},)"
                                  R"("1.0":{{"dtype":"U8","shape":[{}],"data_offsets":[8,{}]}}}})",
                                  kHole, kHole + 8);
  std::string text(8, '\0');
  text[0] = static_cast<char>(header.size());
  ASSERT_TRUE(write_file_atomically(path, text + header + std::string(8, '\0')));
  std::filesystem::resize_file(path, 8 + header.size() + 8 + kHole);
  EXPECT_EQ(count_samples_of_file(path), 2);
  rusage before{};
  ::getrusage(RUSAGE_SELF, &before);
  EXPECT_EQ(read_samples(path, 1).value().size(), 1U);
  rusage after{};
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 64 << 10) << "in KiB";
}

TEST(Samples, OfAFileSayWhichIsMissingAndWhere) {
  const auto folder = TemporaryFolder::make("safetensors").value();
  const auto path = file_of_samples(folder, 3);
  const auto absent = read_samples(path, 4);
  EXPECT_EQ(absent.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(absent.error().message, HasSubstr("no sample 3; there are 3"));
  EXPECT_THAT(absent.error().message, HasSubstr(path.string()));
  EXPECT_EQ(read_samples(folder.path() / "absent", 1).error().code, ErrorCode::kNotFound);
  const auto whole = read_file(path).value();
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{7}, std::size_t{40}, whole.size() - 1}) {
    ASSERT_TRUE(write_file_atomically(path, whole.substr(0, size)));
    EXPECT_EQ(read_samples(path, 1).error().code, ErrorCode::kCorrupt) << size;
  }
}

TEST(Safetensors, OfManyTensorsAreReadAsTheyAreWritten) {
  // Their header has more than 16 MiB, as that of an evaluation of many outputs.
  std::vector<NamedTensor> tensors;
  for (int i = 0; i < 250'000; ++i) {
    tensors.push_back({fmt::format("{}.{}", i / 250, i % 250), Tensor::zeros(Dtype::kUInt8, {1})});
  }
  const auto bytes = safetensors_from_tensors(tensors);
  ASSERT_GT(bytes.size(), std::size_t{16} << 20);
  const auto back = tensors_from_safetensors(bytes);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->size(), tensors.size());
}

TEST(Samples, AreOrderedByNumberNotByText) {
  std::vector<NamedTensor> tensors;
  tensors.reserve(13);
  for (int index = 0; index < 11; ++index) {
    tensors.push_back({"1." + std::to_string(index), counting_tensor(Dtype::kUInt8, {index})});
  }
  tensors.push_back({"0.0", counting_tensor(Dtype::kUInt8, {1})});
  tensors.push_back({"weights", counting_tensor(Dtype::kUInt8, {1})});
  EXPECT_EQ(count_samples(tensors), 2);
  const auto sample = sample_from_tensors(tensors, 1);
  ASSERT_TRUE(sample);
  ASSERT_EQ(sample->size(), 11U);
  EXPECT_THAT((*sample)[10].shape, ElementsAre(10));
  EXPECT_THAT((*sample)[2].shape, ElementsAre(2));
}

TEST(Samples, SayWhatIsMissing) {
  const std::vector<NamedTensor> tensors = {{"0.0", counting_tensor(Dtype::kUInt8, {1})},
                                            {"0.2", counting_tensor(Dtype::kUInt8, {1})}};
  EXPECT_EQ(count_samples(std::span<const NamedTensor>{}), 0);
  const auto absent = sample_from_tensors(tensors, 4);
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(absent.error().message, HasSubstr("there are 1"));
  EXPECT_THAT(sample_from_tensors(tensors, 0).error().message, HasSubstr("missing"));
}

}  // namespace
}  // namespace assay
