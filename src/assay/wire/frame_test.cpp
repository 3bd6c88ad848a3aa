#include "assay/wire/frame.h"

#include <cstddef>
#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/digest.h"
#include "assay/base/enum_names.h"
#include "assay/base/result.h"

namespace assay::wire {
namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Frame small_frame() {
  return {.type = MessageType::kInfer,
          .request = 0x01020304,
          .body = {{"repeat", 2}, {"name", "grüße"}},
          .blob = bytes_of("blob")};
}

bool is_same(const Frame& a, const Frame& b) {
  return a.type == b.type && a.request == b.request && a.body == b.body && a.blob == b.blob;
}

/// Sets bytes of a header and mends its checksum.
template <class T>
std::vector<std::byte> with_header_field(std::vector<std::byte> bytes, std::size_t at, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes[at + i] = static_cast<std::byte>(value >> (8 * i));
  }
  const auto crc = crc32c({std::span(bytes).first(28)});
  for (std::size_t i = 0; i < 4; ++i) {
    bytes[28 + i] = static_cast<std::byte>(crc >> (8 * i));
  }
  return bytes;
}

/// A whole frame with this text in place of its JSON, checksums right.
std::vector<std::byte> frame_with_json(const std::string& json) {
  auto bytes = bytes_from_frame({.type = MessageType::kHello, .request = 1});
  bytes.resize(kHeaderBytes);
  bytes = with_header_field(bytes, 12, static_cast<std::uint32_t>(json.size()));
  const auto text = bytes_of(json);
  bytes = with_header_field(bytes, 24, crc32c({text}));
  bytes.insert(bytes.end(), text.begin(), text.end());
  return bytes;
}

ErrorCode code_of(const std::vector<std::byte>& bytes) {
  const auto sequence = frames_from_bytes(bytes);
  return sequence.status ? ErrorCode::kInternal : sequence.status.error().code;
}

TEST(Frame, HasTheDocumentedLayout) {
  const auto bytes = bytes_from_frame(small_frame());
  const std::string json = R"({"name":"grüße","repeat":2})";
  ASSERT_EQ(bytes.size(), kHeaderBytes + json.size() + 4);
  EXPECT_THAT(std::vector(bytes.begin(), bytes.begin() + 4), bytes_of("ASAY"));
  EXPECT_EQ(bytes[4], std::byte{1});
  EXPECT_EQ(bytes[6], std::byte{17});
  EXPECT_EQ(bytes[8], std::byte{4});
  EXPECT_EQ(bytes[11], std::byte{1});
  EXPECT_EQ(bytes[12], static_cast<std::byte>(json.size()));
  EXPECT_EQ(bytes[16], std::byte{4});
  EXPECT_EQ(std::vector(bytes.begin() + 32, bytes.end()), bytes_of(json + "blob"));
}

TEST(Frame, SurvivesTheRoundTrip) {
  const auto sequence = frames_from_bytes(bytes_from_frame(small_frame()));
  ASSERT_TRUE(sequence.status);
  ASSERT_EQ(sequence.frames.size(), 1U);
  EXPECT_TRUE(is_same(sequence.frames[0], small_frame()));
}

TEST(Frame, IsReadOneAfterAnother) {
  auto bytes = bytes_from_frame(small_frame());
  const auto second = bytes_from_frame({.type = MessageType::kBye, .request = 9});
  bytes.insert(bytes.end(), second.begin(), second.end());
  const auto sequence = frames_from_bytes(bytes);
  ASSERT_TRUE(sequence.status);
  ASSERT_EQ(sequence.frames.size(), 2U);
  EXPECT_EQ(sequence.frames[1].type, MessageType::kBye);
  EXPECT_TRUE(sequence.frames[1].blob.empty());
}

TEST(Frame, ReplacesTextThatIsNotUtf8) {
  const auto sequence = frames_from_bytes(bytes_from_frame({.body = {{"text", "a\xFFz"}}}));
  ASSERT_EQ(sequence.frames.size(), 1U);
  EXPECT_EQ(sequence.frames[0].body["text"], "a\uFFFDz");
}

TEST(DamagedFrame, IsRefusedWhicheverBitFlips) {
  const auto whole = bytes_from_frame(small_frame());
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    auto bytes = whole;
    bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    const auto sequence = frames_from_bytes(bytes);
    EXPECT_FALSE(sequence.status) << "bit " << bit;
    EXPECT_TRUE(sequence.frames.empty()) << "bit " << bit;
  }
}

TEST(DamagedFrame, IsRefusedTruncatedAtEveryLength) {
  const auto whole = bytes_from_frame(small_frame());
  for (std::size_t length = 1; length < whole.size(); ++length) {
    const auto sequence = frames_from_bytes(std::span(whole).first(length));
    ASSERT_FALSE(sequence.status) << length;
    EXPECT_EQ(sequence.status.error().code, ErrorCode::kCorrupt) << length;
    EXPECT_TRUE(sequence.frames.empty()) << length;
  }
  EXPECT_TRUE(frames_from_bytes({}).status);
}

TEST(DamagedFrame, KeepsTheWholeFramesBeforeIt) {
  auto bytes = bytes_from_frame(small_frame());
  const auto noise = bytes_of("WARNING: something printed to standard output\n");
  bytes.insert(bytes.end(), noise.begin(), noise.end());
  const auto sequence = frames_from_bytes(bytes);
  ASSERT_EQ(sequence.frames.size(), 1U);
  EXPECT_TRUE(is_same(sequence.frames[0], small_frame()));
  ASSERT_FALSE(sequence.status);
  EXPECT_THAT(sequence.status.error().message, testing::HasSubstr("not a frame"));
}

TEST(FrameSequence, HasNoMoreValuesThanAProcessMaySend) {
  // Two bytes of text are sixty of memory when they are parsed.
  std::string many = "{\"a\":[0";
  for (int i = 0; i < 1'500'000; ++i) {
    many += ",0";
  }
  auto bytes = frame_with_json(many + "]}");
  const auto one = bytes;
  EXPECT_TRUE(frames_from_bytes(bytes).status);
  bytes.insert(bytes.end(), one.begin(), one.end());
  EXPECT_TRUE(frames_from_bytes(bytes).status);
  bytes.insert(bytes.end(), one.begin(), one.end());
  const auto sequence = frames_from_bytes(bytes);
  EXPECT_EQ(sequence.frames.size(), 2U);
  EXPECT_EQ(code_of(bytes), ErrorCode::kCorrupt);
  EXPECT_FALSE(sequence.is_truncated);
}

TEST(FrameSequence, HasNoMoreFramesThanAProcessMaySend) {
  const auto one = bytes_from_frame({.type = MessageType::kStage, .request = 1});
  std::vector<std::byte> bytes;
  for (int i = 0; i < 100'001; ++i) {
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  EXPECT_EQ(code_of(bytes), ErrorCode::kCorrupt);
  bytes.resize(bytes.size() - one.size());
  EXPECT_EQ(frames_from_bytes(bytes).frames.size(), 100'000U);
}

TEST(FrameSequence, HasLogsWithoutTheirText) {
  auto bytes = bytes_from_frame(
      {.type = MessageType::kLog, .request = 7, .body = {{"text", std::string(100'000, ',')}}});
  const auto one = bytes;
  for (int i = 0; i < 50; ++i) {
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  append_frame(bytes, small_frame());
  const auto sequence = frames_from_bytes(bytes);
  ASSERT_TRUE(sequence.status) << sequence.status.error().message;
  ASSERT_EQ(sequence.frames.size(), 52U);
  EXPECT_EQ(sequence.frames[0].type, MessageType::kLog);
  EXPECT_TRUE(sequence.frames[0].body.empty());
  EXPECT_TRUE(is_same(sequence.frames.back(), small_frame()));
}

TEST(FrameHeader, OfAnUnknownTypeIsDelivered) {
  const auto bytes =
      with_header_field(bytes_from_frame(small_frame()), 6, static_cast<std::uint16_t>(999));
  const auto sequence = frames_from_bytes(bytes);
  ASSERT_EQ(sequence.frames.size(), 1U);
  EXPECT_EQ(static_cast<int>(sequence.frames[0].type), 999);
  EXPECT_EQ(name_of(sequence.frames[0].type), "?");
}

TEST(FrameHeader, OfAnotherVersionIsUnsupported) {
  for (const int version : {0, 2, 65535}) {
    const auto bytes =
        with_header_field(bytes_from_frame(small_frame()), 4, static_cast<std::uint16_t>(version));
    EXPECT_EQ(code_of(bytes), ErrorCode::kUnsupported) << version;
  }
}

TEST(FrameHeader, WithLengthsBeyondTheLimitsIsRefused) {
  const auto whole = bytes_from_frame(small_frame());
  EXPECT_EQ(code_of(with_header_field(whole, 12, kMaxJsonBytes + 1)), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of(with_header_field(whole, 12, std::uint32_t{0xFFFFFFFF})), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of(with_header_field(whole, 16, kMaxBlobBytes + 1)), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of(with_header_field(whole, 16, ~std::uint64_t{0})), ErrorCode::kCorrupt);
}

TEST(FramePayload, OfAnotherLengthThanAnnouncedIsRefused) {
  const auto bytes = bytes_from_frame(small_frame());
  const auto header = header_from_bytes(std::span(bytes).first<kHeaderBytes>());
  ASSERT_TRUE(header);
  const auto payload = std::span(bytes).subspan(kHeaderBytes);
  EXPECT_TRUE(frame_from_payload(*header, payload));
  EXPECT_FALSE(frame_from_payload(*header, payload.first(payload.size() - 1)));
  EXPECT_FALSE(frame_from_payload(*header, {}));
  auto longer = std::vector(payload.begin(), payload.end());
  longer.push_back(std::byte{0});
  EXPECT_FALSE(frame_from_payload(*header, longer));
}

TEST(FrameBody, MustBeAnObject) {
  for (const std::string text : {"[1]", "3", "null", "\"x\"", "{", "{\"a\":}", "{} {}", " "}) {
    EXPECT_EQ(code_of(frame_with_json(text)), ErrorCode::kCorrupt) << text;
  }
  EXPECT_EQ(frames_from_bytes(frame_with_json("{\"a\": 1}")).frames.size(), 1U);
  EXPECT_EQ(frames_from_bytes(frame_with_json("")).frames.size(), 1U);
}

TEST(FrameBody, NestedBeyondTheLimitIsRefused) {
  const auto nested = [](int depth) {
    return "{\"a\":" + std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']') + "}";
  };
  EXPECT_EQ(frames_from_bytes(frame_with_json(nested(kMaxJsonDepth - 1))).frames.size(), 1U);
  EXPECT_EQ(code_of(frame_with_json(nested(kMaxJsonDepth + 1))), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of(frame_with_json(nested(100'000))), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of(frame_with_json("{\"a\":" + std::string(100'000, '['))), ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace assay::wire
