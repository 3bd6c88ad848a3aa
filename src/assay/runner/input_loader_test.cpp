#include "assay/runner/input_loader.h"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

#include "assay/base/fs.h"
#include "assay/tensor/safetensors.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<TensorSpec> kSpecs = {{.name = "x", .shape = {2, 3}},
                                        {.name = "i", .dtype = Dtype::kInt64, .shape = {4}}};

std::vector<std::byte> two_samples() {
  std::vector<NamedTensor> tensors;
  for (const int sample : {0, 1}) {
    Tensor tensor = Tensor::zeros(Dtype::kUInt8, {1});
    tensor.data[0] = static_cast<std::byte>(40 + sample);
    tensors.push_back({std::to_string(sample) + ".0", tensor});
  }
  return safetensors_from_tensors(tensors);
}

TEST(InputLoader, GeneratesWhatTheSignatureAsksForFromTheSeed) {
  const wire::InputSource source{.is_generated = true, .seed = 5, .samples = 2};
  const auto samples = load_samples(source, {}, kSpecs).value();
  ASSERT_EQ(samples.size(), 2U);
  ASSERT_EQ(samples[0].size(), 2U);
  EXPECT_EQ(samples[0][0].shape, kSpecs[0].shape);
  EXPECT_EQ(samples[0][1].dtype, Dtype::kInt64);
  EXPECT_NE(samples[0][0].data, samples[1][0].data);
  EXPECT_EQ(samples[1][0].data, load_samples(source, {}, kSpecs).value()[1][0].data);
}

TEST(InputLoader, DoesNotMakeUpInputsOfUnboundSize) {
  const std::vector<TensorSpec> specs = {{.name = "ids", .shape = {1, kUnboundDimension}}};
  const auto samples = load_samples({.is_generated = true}, {}, specs);
  ASSERT_FALSE(samples);
  EXPECT_EQ(samples.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(samples.error().message, HasSubstr("input 'ids' is 1x?"));
}

TEST(InputLoader, DoesNotMakeUpInputsThatNothingHolds) {
  const std::vector<TensorSpec> specs = {{.name = "x", .shape = {1LL << 32, 1LL << 32}}};
  const auto samples = load_samples({.is_generated = true}, {}, specs);
  ASSERT_FALSE(samples);
  EXPECT_EQ(samples.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(samples.error().message, HasSubstr("4294967296x4294967296 of 'x'"));
}

TEST(InputLoader, QuantizesRealInputsOfAProgramThatTakesIntegers) {
  const std::vector<NamedTensor> real = {
      {"0.0",
       tensor_from_doubles(std::array{0.0, 0.25, 0.75, -0.25, 1e9, -1e9}, {6}, Dtype::kFloat32)},
  };
  const auto blob = safetensors_from_tensors(real);
  std::vector<TensorSpec> specs = {
      {.name = "x", .dtype = Dtype::kInt8, .shape = {6}, .quantization = Quantization{{0.5}, {3}}}};
  const wire::InputSource source{.in_blob = true, .samples = 1, .converts_floating = true};
  const auto stored = load_samples(source, blob, specs).value()[0][0];
  EXPECT_EQ(stored.dtype, Dtype::kInt8);
  EXPECT_THAT(doubles_from_tensor(stored.view()), ElementsAre(3, 3, 5, 3, 127, -128));
  specs[0].dtype = Dtype::kUInt8;
  EXPECT_THAT(doubles_from_tensor(load_samples(source, blob, specs).value()[0][0].view()),
              ElementsAre(3, 3, 5, 3, 255, 0));
  specs[0].quantization.reset();  // nothing says how: left for the engine to refuse
  EXPECT_EQ(load_samples(source, blob, specs).value()[0][0].dtype, Dtype::kFloat32);
}

TEST(InputLoader, QuantizesRealInputsOfAFileWhereverTheProgramTellsItsSteps) {
  const auto folder = TemporaryFolder::make("inputs").value();
  const auto path = folder.path() / "x.safetensors";
  const std::vector<NamedTensor> real = {
      {"0.0", tensor_from_doubles(std::array{0.0, 1.0}, {2}, Dtype::kFloat32)},
      {"0.1", tensor_from_doubles(std::array{0.0, 1.0}, {2}, Dtype::kFloat32)}};
  const auto bytes = safetensors_from_tensors(real);
  ASSERT_TRUE(
      write_file_atomically(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  const std::vector<TensorSpec> specs = {
      {.name = "x", .dtype = Dtype::kInt8, .shape = {2}, .quantization = Quantization{{0.5}, {3}}},
      {.name = "h", .dtype = Dtype::kFloat16, .shape = {2}}};
  const auto sample = load_samples({.file = path}, {}, specs).value()[0];
  EXPECT_EQ(sample[0].dtype, Dtype::kInt8);
  EXPECT_THAT(doubles_from_tensor(sample[0].view()), ElementsAre(3, 5));
  EXPECT_EQ(sample[1].dtype, Dtype::kFloat32) << "another floating type is the engine's to refuse";
}

TEST(InputLoader, SeedsEverySampleAndInputApart) {
  std::set<std::uint64_t> seeds;
  for (std::size_t sample = 0; sample < 50; ++sample) {
    for (std::size_t input = 0; input < 20; ++input) {
      seeds.insert(seed_of_input(1, sample, input));
    }
  }
  EXPECT_EQ(seeds.size(), 1000U);
}

TEST(InputLoader, ReadsSamplesFromTheBlob) {
  const auto blob = two_samples();
  const auto samples = load_samples({.in_blob = true, .samples = 2}, blob, kSpecs).value();
  EXPECT_EQ(samples[1][0].data[0], std::byte{41});
}

TEST(InputLoader, ReadsSamplesFromAFileAndNamesItWhenOneIsMissing) {
  const auto folder = TemporaryFolder::make("inputs").value();
  const auto path = folder.path() / "x.safetensors";
  const auto blob = two_samples();
  ASSERT_TRUE(
      write_file_atomically(path, {reinterpret_cast<const char*>(blob.data()), blob.size()}));
  EXPECT_EQ(load_samples({.file = path, .samples = 2}, {}, kSpecs).value().size(), 2U);

  const auto missing = load_samples({.file = path, .samples = 3}, {}, kSpecs);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr(path.string()));
}

TEST(InputLoader, WantsExactlyOneSource) {
  EXPECT_EQ(load_samples({}, {}, kSpecs).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(load_samples({.in_blob = true, .is_generated = true}, {}, kSpecs).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(load_samples({.is_generated = true, .samples = 0}, {}, kSpecs).error().code,
            ErrorCode::kInvalidArgument);
}

TEST(InputLoader, ConvertsFloatingInputsOnlyWhereThatIsAskedFor) {
  const std::vector<TensorSpec> half = {{.name = "x", .dtype = Dtype::kFloat16, .shape = {2}},
                                        {.name = "i", .dtype = Dtype::kFloat16, .shape = {1}}};
  const std::vector<NamedTensor> given = {
      {"0.0", tensor_from_doubles(std::array{1.5, -2.0}, {2}, Dtype::kFloat32)},
      {"0.1", Tensor::zeros(Dtype::kInt64, {1})}};
  const auto blob = safetensors_from_tensors(given);
  const auto as_given = load_samples({.in_blob = true}, blob, half).value().front();
  EXPECT_EQ(as_given[0].dtype, Dtype::kFloat32);

  const auto converted =
      load_samples({.in_blob = true, .converts_floating = true}, blob, half).value().front();
  EXPECT_EQ(converted[0].dtype, Dtype::kFloat16);
  EXPECT_THAT(doubles_from_tensor(converted[0].view()), ElementsAre(1.5, -2.0));
  EXPECT_EQ(converted[1].dtype, Dtype::kInt64) << "no integer becomes a float";
}

TEST(InputLoader, GivesEmptySamplesToAProgramWithoutInputs) {
  EXPECT_EQ(load_samples({.is_generated = true, .samples = 3}, {}, {}).value().size(), 3U);
}

}  // namespace
}  // namespace assay
