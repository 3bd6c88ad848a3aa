#include "assay/spec/given_inputs.h"

#include <cstdint>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/spec/onnx_inputs.h"
#include "assay/spec/spec.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kFloat32Element = 1;
constexpr std::uint64_t kInt64Element = 7;

std::string small_varint(std::uint64_t value) { return {static_cast<char>(value & 0x7FU)}; }

/// A field that is shorter than 128 bytes.
std::string part(std::uint64_t number, std::string_view content) {
  return small_varint(number << 3U | 2U) + small_varint(content.size()) + std::string(content);
}

std::string number_part(std::uint64_t number, std::uint64_t value) {
  return small_varint(number << 3U) + small_varint(value);
}

std::string fixed_size(std::uint64_t size) { return part(1, number_part(1, size)); }
std::string open_size(std::string_view name) { return part(1, part(2, name)); }

/// An input of the graph with this shape.
std::string input_of(std::string_view name, std::uint64_t element, std::string_view shape) {
  const auto tensor = number_part(1, element) + part(2, shape);
  return part(11, part(1, name) + part(2, part(1, tensor)));
}

/// x float32 [batch, 8], ids int64 [batch, time], and a weight that is listed as an input too.
std::string model_of_two_inputs() {
  const auto graph = input_of("x", kFloat32Element, open_size("batch") + fixed_size(8)) +
                     input_of("ids", kInt64Element, open_size("batch") + open_size("time")) +
                     input_of("w", kFloat32Element, fixed_size(3)) + part(5, part(8, "w"));
  return number_part(1, 10) + part(7, graph);
}

/// -1, as older exporters write an open size.
std::string negative_size() {
  return part(1, std::string("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11));
}

class GivenInputs : public testing::Test {
 protected:
  GivenInputs() {
    EXPECT_TRUE(write_file_atomically(path_, model_of_two_inputs()));
    entry_.model.ref = path_.string();
  }

  [[nodiscard]] std::string refusal() const {
    const auto checked = check_given_inputs(entry_, "models[0]");
    if (checked) {
      return "";
    }
    EXPECT_EQ(checked.error().code, ErrorCode::kInvalidArgument);
    return checked.error().message;
  }

  TemporaryFolder folder_ = TemporaryFolder::make("assay-test").value();
  std::filesystem::path path_ = folder_.path() / "net.onnx";
  SpecModel entry_;
};

TEST_F(GivenInputs, OfAnOnnxFileAreReadWithoutItsConstants) {
  const auto inputs = read_onnx_inputs(path_);
  ASSERT_TRUE(inputs);
  ASSERT_EQ(inputs->size(), 2U);
  EXPECT_EQ(inputs->at(1).name, "ids");
  EXPECT_EQ(inputs->at(1).dtype, "int64");
  EXPECT_EQ(inputs->at(0).shape->at(0).name, "batch");
  EXPECT_EQ(inputs->at(0).shape->at(1).size, 8);
}

TEST_F(GivenInputs, NameADimensionThatIsNotThere) {
  entry_.model.dimensions = {{"batch", 1}, {"tim", 4}};
  EXPECT_THAT(refusal(), HasSubstr("models[0].dimensions: no open dimension 'tim' in net.onnx"));
  EXPECT_THAT(refusal(), HasSubstr("did you mean 'time'?"));
  entry_.model.dimensions = {{"q", 1}};
  EXPECT_THAT(refusal(), HasSubstr("known: batch, time"));
  entry_.model.dimensions = {{"batch", 1}, {"time", 4}};
  EXPECT_EQ(refusal(), "");
}

TEST_F(GivenInputs, OfAnotherFormatHaveNoNames) {
  entry_.model.ref = "net.pte";
  entry_.model.dimensions = {{"btch", 1}};
  EXPECT_THAT(refusal(), HasSubstr("no open dimension 'btch' in net.pte"));
  EXPECT_THAT(refusal(), HasSubstr("--input-shape"));
  entry_.model.dimensions.clear();
  entry_.bindings = {{{.shape = {1, 9}}}};
  EXPECT_EQ(refusal(), "") << "its shapes are not read here";
}

TEST_F(GivenInputs, NameTheInputWhatItTakesAndWhatIsGiven) {
  const TensorSpec ids{.dtype = Dtype::kInt64, .shape = {1, 5}};
  entry_.bindings = {{{.shape = {1, 8}}, ids}, {{.shape = {2, 9}}, ids}};
  EXPECT_THAT(refusal(), HasSubstr("models[0].inputs: input 0 'x' takes float32 [batch, 8], but "
                                   "float32 [2, 9] is given"));
  entry_.bindings = {{{.shape = {1, 8}}, {.dtype = Dtype::kInt32, .shape = {1, 5}}}};
  EXPECT_THAT(refusal(), HasSubstr("input 1 'ids' takes int64 [batch, time], but int32 [1, 5]"));
  entry_.bindings = {{ids}};
  EXPECT_THAT(refusal(), HasSubstr("1 shape is given, the program takes 2 inputs: 'x' float32 "
                                   "[batch, 8], 'ids' int64 [batch, time]"));
  entry_.bindings = {{{.shape = {1, 8}}, {.shape = {1, 5}}}};
  EXPECT_EQ(refusal(), "") << "float32, the default, asks for no type";
}

TEST_F(GivenInputs, OfADamagedFileAreItsReadersBusiness) {
  const auto whole = model_of_two_inputs();
  ASSERT_TRUE(write_file_atomically(path_, whole.substr(0, whole.size() - 3)));
  entry_.model.dimensions = {{"btch", 1}};
  EXPECT_FALSE(read_onnx_inputs(path_));
  EXPECT_EQ(refusal(), "");
}

TEST_F(GivenInputs, BindASizeThatIsNegativeAsOneThatIsOpen) {
  const auto graph = input_of("x", kFloat32Element, negative_size() + fixed_size(3));
  ASSERT_TRUE(write_file_atomically(path_, number_part(1, 10) + part(7, graph)));
  const auto inputs = read_onnx_inputs(path_);
  ASSERT_TRUE(inputs);
  EXPECT_FALSE(inputs->at(0).shape->at(0).size);
  entry_.bindings = {{TensorSpec{.name = {}, .dtype = Dtype::kFloat32, .shape = {1, 3}}}};
  EXPECT_EQ(refusal(), "");
}

}  // namespace
}  // namespace assay
