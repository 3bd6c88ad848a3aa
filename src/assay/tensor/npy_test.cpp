#include "assay/tensor/npy.h"

#include <cstddef>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::byte> npy_document(std::string_view header, std::string_view data) {
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(header.size() & 0xff);
  text += static_cast<char>(header.size() >> 8);
  text += header;
  text += data;
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// numpy.save of numpy.array([[1, -2, 3]], "<i2"), numpy 2.4.6, less its padding.
TEST(Npy, ReadsWhatNumpyWrites) {
  const auto tensor = tensor_from_npy(
      npy_document("{'descr': '<i2', 'fortran_order': False, 'shape': (1, 3), }   \n",
                   std::string_view("\x01\x00\xfe\xff\x03\x00", 6)));
  ASSERT_TRUE(tensor) << tensor.error().message;
  EXPECT_EQ(tensor->dtype, Dtype::kInt16);
  EXPECT_EQ(tensor->shape, (Shape{1, 3}));
  EXPECT_THAT(doubles_from_tensor(tensor->view()), ElementsAre(1, -2, 3));
}

TEST(Npy, KeepsEveryDtypeAndShape) {
  for (const auto& [dtype, name] : kEnumNames<Dtype>) {
    for (const auto& shape : {Shape{}, Shape{5}, Shape{2, 3}, Shape{0, 3}}) {
      const TensorSpec spec{.name = "", .dtype = dtype, .shape = shape, .quantization = {}};
      const auto tensor = random_tensor(spec, 1);
      const auto bytes = npy_from_tensor(tensor.view());
      if (dtype == Dtype::kBFloat16) {
        EXPECT_EQ(bytes.error().code, ErrorCode::kUnsupported);
        continue;
      }
      ASSERT_TRUE(bytes) << name;
      EXPECT_EQ((bytes->size() - tensor.data.size()) % 64, 0U);
      const auto back = tensor_from_npy(*bytes);
      ASSERT_TRUE(back) << name << ": " << back.error().message;
      EXPECT_EQ(back->dtype, dtype);
      EXPECT_EQ(back->shape, shape);
      EXPECT_EQ(back->data, tensor.data);
    }
  }
}

TEST(Npy, RefusesWhatItCannotKeep) {
  const auto code_of = [](std::string_view header) {
    const auto result = tensor_from_npy(npy_document(header, std::string(32, '\0')));
    return result ? ErrorCode::kInternal : result.error().code;
  };
  EXPECT_EQ(code_of("{'descr': '>f4', 'fortran_order': False, 'shape': (8,), }"),
            ErrorCode::kUnsupported);
  EXPECT_EQ(code_of("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 4), }"),
            ErrorCode::kUnsupported);
  EXPECT_EQ(code_of("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (8,), }"),
            ErrorCode::kCorrupt);
  EXPECT_EQ(code_of("{'descr': '<f4', 'fortran_order': False, 'shape': (9,), }"),
            ErrorCode::kCorrupt);
  EXPECT_EQ(code_of("{'descr': '<f4', 'fortran_order': False, 'shape': (-8,), }"),
            ErrorCode::kCorrupt);
  EXPECT_EQ(
      code_of("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }"),
      ErrorCode::kCorrupt);
  EXPECT_EQ(code_of("{'descr': '<f4', 'shape': (8,), }"), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of("{'descr': '<f4', 'fortran_order': False, 'shape': (8,), } import os"),
            ErrorCode::kCorrupt);
}

TEST(Npy, SurvivesEveryTruncationAndByteFlip) {
  const TensorSpec spec{.name = "", .dtype = Dtype::kFloat32, .shape = {2, 2}, .quantization = {}};
  auto bytes = *npy_from_tensor(random_tensor(spec, 1).view());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(tensor_from_npy(std::span(bytes).first(size))) << size;
  }
  for (auto& byte : bytes) {
    byte ^= std::byte{0xff};
    const auto result = tensor_from_npy(bytes);
    EXPECT_TRUE(!result || result->data.size() == 16);
    byte ^= std::byte{0xff};
  }
}

}  // namespace
}  // namespace assay
