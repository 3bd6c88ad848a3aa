#include "assay/store/sql/sample_codec.h"

#include <cstddef>
#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"

namespace assay::sql {
namespace {

std::vector<std::int64_t> latencies(std::size_t count) {
  std::mt19937_64 generator(7);
  std::vector<std::int64_t> samples(count);
  for (auto& sample : samples) {
    sample = 12'000'000 + static_cast<std::int64_t>(generator() % 400'000);
  }
  return samples;
}

void expect_round_trip(const std::vector<std::int64_t>& samples) {
  const auto packed = packed_from_samples(samples);
  const auto back = samples_from_packed(packed.codec, packed.bytes, samples.size());
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_EQ(*back, samples);
}

TEST(SampleCodec, RestoresEveryBit) {
  using Limits = std::numeric_limits<std::int64_t>;
  expect_round_trip({});
  expect_round_trip({0});
  expect_round_trip({Limits::min(), Limits::max(), -1, 0, 1, 255, 256});
  expect_round_trip(latencies(50));
  expect_round_trip(latencies(100'000));
}

TEST(SampleCodec, TakesLessThanHalfOfTheSamplesOfALaunch) {
  const auto packed = packed_from_samples(latencies(50));
  EXPECT_EQ(packed.codec, "i64-shuffle-zstd");
  EXPECT_LT(packed.bytes.size(), 50 * 8 / 2);
}

TEST(SampleCodec, LeavesAFewSamplesAsTheyAre) {
  const auto packed = packed_from_samples(std::vector<std::int64_t>{1});
  EXPECT_EQ(packed.codec, "i64");
  EXPECT_EQ(packed.bytes, std::string("\1\0\0\0\0\0\0\0", 8)) << "little-endian";
}

TEST(SampleCodec, RefusesDamagedBytes) {
  const auto packed = packed_from_samples(latencies(50));
  const auto refused = [&](std::string_view codec, std::string_view bytes, std::size_t count) {
    const auto result = samples_from_packed(codec, bytes, count);
    return !result && result.error().code == ErrorCode::kCorrupt;
  };
  EXPECT_TRUE(refused("nonsense", packed.bytes, 50));
  EXPECT_TRUE(refused(packed.codec, packed.bytes, 49));
  EXPECT_TRUE(refused(packed.codec, std::string_view(packed.bytes).substr(0, 40), 50));
  EXPECT_TRUE(refused(packed.codec, "no frame", 1));
  EXPECT_TRUE(refused("i64", "1234567", 1));
  auto flipped = packed.bytes;
  flipped[flipped.size() / 2] = static_cast<char>(~flipped[flipped.size() / 2]);
  const auto result = samples_from_packed(packed.codec, flipped, 50);
  EXPECT_TRUE(!result || *result != latencies(50));
}

TEST(BytesCodec, RestoresBytesAndRefusesDamage) {
  for (const auto& bytes : {std::string(), std::string("short"), std::string(10'000, 'a')}) {
    const auto packed = packed_from_bytes(bytes);
    EXPECT_EQ(bytes_from_packed(packed.codec, packed.bytes).value(), bytes);
    EXPECT_LE(packed.bytes.size(), bytes.size());
  }
  EXPECT_EQ(bytes_from_packed("zstd", "x").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(bytes_from_packed("gzip", "x").error().code, ErrorCode::kCorrupt);
}

// A frame's header alone may claim anything (RFC 8878, 3.1.1.1).
TEST(SampleCodec, RefusesATinyFrameThatClaimsGigabytes) {
  const std::string claim("\x28\xb5\x2f\xfd\xa0\x00\x00\x00\x1f\x01\x00\x00", 12);
  const auto bytes = bytes_from_packed("zstd", claim);
  ASSERT_FALSE(bytes.has_value());
  EXPECT_EQ(bytes.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(bytes.error().message, testing::HasSubstr("12 bytes cannot hold"));
}

TEST(SampleCodec, FindsEveryFlippedBitOfAFrame) {
  std::vector<std::int64_t> samples;
  for (int i = 0; i < 200; ++i) {
    samples.push_back(1'000'000 + (i * 7919) % 1000);
  }
  const auto packed = packed_from_samples(samples);
  ASSERT_EQ(packed.codec, "i64-shuffle-zstd");
  for (std::size_t bit = 0; bit < packed.bytes.size() * 8; ++bit) {
    auto damaged = packed.bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const auto back = samples_from_packed(packed.codec, damaged, samples.size());
    EXPECT_TRUE(!back || *back == samples) << "bit " << bit;
  }
}

}  // namespace
}  // namespace assay::sql
