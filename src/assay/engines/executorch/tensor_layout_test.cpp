#include "assay/engines/executorch/tensor_layout.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

namespace assay::et {
namespace {

using testing::Each;
using testing::ElementsAre;

TEST(TensorLayout, KnowsRowMajorOrder) {
  EXPECT_TRUE(is_row_major(std::vector<std::uint8_t>{0, 1, 2, 3}));
  EXPECT_TRUE(is_row_major({}));
  EXPECT_FALSE(is_row_major(std::vector<std::uint8_t>{0, 2, 3, 1}));
}

TEST(TensorLayout, MovesChannelsToTheEndAndBack) {
  const std::vector<std::int32_t> sizes = {1, 3, 2, 2};
  const std::vector<std::uint8_t> channels_last = {0, 2, 3, 1};
  std::vector<std::int16_t> planes(12);
  std::iota(planes.begin(), planes.end(), std::int16_t{0});
  std::vector<std::int16_t> pixels(12);
  copy_from_row_major(sizes, channels_last, sizeof(std::int16_t),
                      reinterpret_cast<const std::byte*>(planes.data()),
                      reinterpret_cast<std::byte*>(pixels.data()));
  EXPECT_THAT(pixels, ElementsAre(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11));

  std::vector<std::int16_t> back(12);
  copy_to_row_major(sizes, channels_last, sizeof(std::int16_t),
                    reinterpret_cast<const std::byte*>(pixels.data()),
                    reinterpret_cast<std::byte*>(back.data()));
  EXPECT_EQ(back, planes);
}

TEST(TensorLayout, CopiesNothingOfAnEmptyTensor) {
  const std::vector<std::int32_t> sizes = {0, 3};
  const std::vector<std::uint8_t> order = {1, 0};
  constexpr std::byte kUntouched{0xAB};
  const std::array<std::byte, 8> source{};
  std::array<std::byte, 8> target;
  target.fill(kUntouched);
  copy_from_row_major(sizes, order, 4, source.data(), target.data());
  EXPECT_THAT(target, Each(kUntouched));
  copy_to_row_major(sizes, order, 4, source.data(), target.data());
  EXPECT_THAT(target, Each(kUntouched));
}

}  // namespace
}  // namespace assay::et
