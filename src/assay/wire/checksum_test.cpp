#include "assay/wire/checksum.h"

#include <cstddef>
#include <gtest/gtest.h>
#include <span>
#include <string_view>
#include <vector>

#include "assay/base/digest.h"

namespace assay::wire {
namespace {

std::vector<std::byte> some_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<std::byte>(i * 7 + (i >> 5));
  }
  return bytes;
}

TEST(FrameChecksum, IsTheOneOfTheStandard) {
  // RFC 3720, B.4, and the usual check value.
  EXPECT_EQ(frame_checksum({std::as_bytes(std::span(std::string_view("123456789")))}), 0xE3069283U);
  EXPECT_EQ(frame_checksum({std::vector<std::byte>(32)}), 0x8A9136AAU);
  EXPECT_EQ(frame_checksum({}), 0U);
}

TEST(FrameChecksum, IsTheSameEveryWayAtEveryLengthAndOffset) {
  const auto bytes = some_bytes(100);
  for (std::size_t offset = 0; offset < 9; ++offset) {
    for (std::size_t length = 0; length + offset <= bytes.size(); ++length) {
      const auto part = std::span(bytes).subspan(offset, length);
      ASSERT_EQ(frame_checksum({part}), crc32c({part})) << offset << " " << length;
      ASSERT_EQ(frame_checksum_by_table({part}), crc32c({part})) << offset << " " << length;
    }
  }
}

TEST(FrameChecksum, OfPartsIsThatOfTheWhole) {
  const auto bytes = some_bytes(100);
  const auto whole = std::span(bytes);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    ASSERT_EQ(frame_checksum({whole.first(cut), whole.subspan(cut)}), frame_checksum({whole}));
    ASSERT_EQ(frame_checksum_by_table({whole.first(cut), whole.subspan(cut)}),
              frame_checksum({whole}));
  }
}

}  // namespace
}  // namespace assay::wire
