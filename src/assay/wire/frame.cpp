#include "assay/wire/frame.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/wire/checksum.h"

namespace assay::wire {
namespace {

constexpr std::size_t kCheckedHeaderBytes = kHeaderBytes - sizeof(std::uint32_t);

template <class T>
void append_little_endian(std::vector<std::byte>& bytes, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
}

template <class T>
T read_little_endian(std::span<const std::byte> bytes, std::size_t offset) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(value | static_cast<T>(static_cast<T>(bytes[offset + i]) << (8 * i)));
  }
  return value;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

Result<Json> body_from_bytes(std::span<const std::byte> bytes) {
  if (bytes.empty()) {
    return Json::object();
  }
  auto body = parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "a message",
                         JsonComments::kRefused);
  if (!body) {
    return fail(ErrorCode::kCorrupt, body.error().message);
  }
  if (!body->is_object()) {
    return fail(ErrorCode::kCorrupt, "message is not a JSON object");
  }
  return body;
}

Status check_header(const FrameHeader& header) {
  if (header.version < kVersionMin || header.version > kVersionMax) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("the other side speaks wire version {}, this one {} to {}; update the "
                            "older of the two",
                            header.version, kVersionMin, kVersionMax));
  }
  if (header.json_bytes > kMaxJsonBytes || header.blob_bytes > kMaxBlobBytes) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("frame announces {} bytes of JSON and {} of blob; at most {} and {}",
                            header.json_bytes, header.blob_bytes, kMaxJsonBytes, kMaxBlobBytes));
  }
  return {};
}

}  // namespace

std::vector<std::byte> bytes_before_blob(const Frame& frame) {
  const auto json = frame.body.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::vector<std::byte> bytes;
  bytes.reserve(kHeaderBytes + json.size());
  append_little_endian(bytes, kMagic);
  append_little_endian(bytes, kVersionMax);
  append_little_endian(bytes, static_cast<std::uint16_t>(frame.type));
  append_little_endian(bytes, frame.request);
  append_little_endian(bytes, static_cast<std::uint32_t>(json.size()));
  append_little_endian(bytes, static_cast<std::uint64_t>(frame.blob.size()));
  append_little_endian(bytes, frame_checksum({bytes_of(json), frame.blob}));
  append_little_endian(bytes, frame_checksum({bytes}));
  const auto text = bytes_of(json);
  bytes.insert(bytes.end(), text.begin(), text.end());
  return bytes;
}

std::vector<std::byte> bytes_from_frame(const Frame& frame) {
  auto bytes = bytes_before_blob(frame);
  bytes.insert(bytes.end(), frame.blob.begin(), frame.blob.end());
  return bytes;
}

void append_frame(std::vector<std::byte>& bytes, const Frame& frame) {
  const auto more = bytes_from_frame(frame);
  bytes.insert(bytes.end(), more.begin(), more.end());
}

Result<FrameHeader> header_from_bytes(std::span<const std::byte, kHeaderBytes> bytes) {
  if (read_little_endian<std::uint32_t>(bytes, 0) != kMagic) {
    return fail(ErrorCode::kCorrupt, "not a frame: something else was written into the stream");
  }
  if (read_little_endian<std::uint32_t>(bytes, kCheckedHeaderBytes) !=
      frame_checksum({bytes.first<kCheckedHeaderBytes>()})) {
    return fail(ErrorCode::kCorrupt, "damaged frame: the header's checksum is wrong");
  }
  const FrameHeader header{.version = read_little_endian<std::uint16_t>(bytes, 4),
                           .type = read_little_endian<std::uint16_t>(bytes, 6),
                           .request = read_little_endian<std::uint32_t>(bytes, 8),
                           .json_bytes = read_little_endian<std::uint32_t>(bytes, 12),
                           .blob_bytes = read_little_endian<std::uint64_t>(bytes, 16),
                           .payload_crc = read_little_endian<std::uint32_t>(bytes, 24)};
  ASSAY_RETURN_IF_ERROR(check_header(header));
  return header;
}

Result<Frame> frame_from_parts(const FrameHeader& header, std::span<const std::byte> json,
                               std::vector<std::byte> blob) {
  if (json.size() != header.json_bytes || blob.size() != header.blob_bytes) {
    return fail(ErrorCode::kCorrupt, "truncated frame");
  }
  if (frame_checksum({json, blob}) != header.payload_crc) {
    return fail(ErrorCode::kCorrupt, "damaged frame: the payload's checksum is wrong");
  }
  ASSAY_ASSIGN_OR_RETURN(auto body, body_from_bytes(json));
  return Frame{.type = static_cast<MessageType>(header.type),
               .request = header.request,
               .body = std::move(body),
               .blob = std::move(blob)};
}

Result<Frame> frame_from_payload(const FrameHeader& header, std::span<const std::byte> payload) {
  if (payload.size() < header.json_bytes ||
      payload.size() - header.json_bytes != header.blob_bytes) {
    return fail(ErrorCode::kCorrupt, "truncated frame");
  }
  const auto blob = payload.subspan(header.json_bytes);
  return frame_from_parts(header, payload.first(header.json_bytes), {blob.begin(), blob.end()});
}

namespace {

/// True if the bytes end before the frame does that they begin with.
bool ends_within_frame(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeaderBytes) {
    return true;
  }
  const auto header = header_from_bytes(bytes.first<kHeaderBytes>());
  return header && bytes.size() - kHeaderBytes < header->json_bytes + header->blob_bytes;
}

/// Limits of all frames of one process together, 64 MiB of JSON and four million values: parsed
/// JSON takes many times its text, and who wrote it need not be trusted.
class SequenceBudget {
 public:
  /// Errors: kCorrupt where this frame is one too many.
  Status spend(std::span<const std::byte> json) {
    json_bytes_ += json.size();
    values_ += 1 + static_cast<std::size_t>(std::ranges::count_if(json, [](std::byte byte) {
                 const auto c = std::to_integer<char>(byte);
                 return c == ',' || c == '[' || c == '{';
               }));
    if (++frames_ > kMostFrames || json_bytes_ > kMaxJsonBytes || values_ > kMostValues) {
      return fail(
          ErrorCode::kCorrupt,
          fmt::format("{} frames with {} bytes of JSON and up to {} values; a process may "
                      "send {}, {} and {}",
                      frames_, json_bytes_, values_, kMostFrames, kMaxJsonBytes, kMostValues));
    }
    return {};
  }

 private:
  static constexpr std::size_t kMostFrames = 100'000;
  static constexpr std::size_t kMostValues = 4'000'000;
  std::size_t frames_ = 0;
  std::size_t json_bytes_ = 0;
  std::size_t values_ = 0;
};

/// Takes one frame from the front of `bytes`. One of the type kLog is for people, and not parsed.
Result<Frame> take_frame(std::span<const std::byte>& bytes, SequenceBudget& budget) {
  if (bytes.size() < kHeaderBytes) {
    return fail(ErrorCode::kCorrupt, "truncated frame");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto header, header_from_bytes(bytes.first<kHeaderBytes>()));
  const auto behind = bytes.subspan(kHeaderBytes);
  const std::uint64_t payload_bytes = header.json_bytes + header.blob_bytes;
  if (behind.size() < payload_bytes) {
    return fail(ErrorCode::kCorrupt, "truncated frame");
  }
  const auto payload = behind.first(payload_bytes);
  const bool is_log = header.type == static_cast<std::uint16_t>(MessageType::kLog);
  ASSAY_RETURN_IF_ERROR(budget.spend(payload.first(is_log ? 0 : header.json_bytes)));
  if (is_log) {
    bytes = behind.subspan(payload_bytes);
    return Frame{.type = MessageType::kLog, .request = header.request};
  }
  ASSAY_ASSIGN_OR_RETURN(auto frame, frame_from_payload(header, payload));
  bytes = behind.subspan(payload_bytes);
  return frame;
}

}  // namespace

FrameSequence frames_from_bytes(std::span<const std::byte> bytes) {
  FrameSequence sequence;
  SequenceBudget budget;
  while (!bytes.empty()) {
    auto frame = take_frame(bytes, budget);
    if (!frame) {
      sequence.is_truncated = ends_within_frame(bytes);
      sequence.status = std::unexpected(std::move(frame).error());
      break;
    }
    sequence.frames.push_back(*std::move(frame));
  }
  return sequence;
}

}  // namespace assay::wire
