// Whatever the bytes are, reading frames and their bodies never crashes, what was read can be
// written and read again, and an answer is found possible or refused.
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

#include "assay/base/result.h"
#include "assay/record/launch.h"
#include "assay/record/run.h"
#include "assay/record/spawn.h"
#include "assay/wire/agent_messages.h"
#include "assay/wire/answer_body.h"
#include "assay/wire/answer_check.h"
#include "assay/wire/checksum.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"

namespace {

using assay::wire::Frame;

constexpr std::int64_t kWallNs = 1'000'000'000;

void check_round_trip(const Frame& frame) {
  const auto again = assay::wire::frames_from_bytes(assay::wire::bytes_from_frame(frame));
  ASSAY_CHECK(again.status && again.frames.size() == 1);
  ASSAY_CHECK(again.frames[0].blob == frame.blob && again.frames[0].request == frame.request);
}

void read_requests(const Frame& frame) {
  static_cast<void>(assay::wire::body_of<assay::wire::Load>(frame));
  static_cast<void>(assay::wire::body_of<assay::wire::Infer>(frame));
  static_cast<void>(assay::wire::body_of<assay::wire::Observe>(frame));
  static_cast<void>(assay::wire::body_of<assay::wire::Measure>(frame));
  static_cast<void>(assay::wire::body_of<assay::SpawnRequest>(frame));
  static_cast<void>(assay::wire::body_of<assay::wire::Put>(frame));
  static_cast<void>(assay::wire::body_of<assay::wire::Lock>(frame));
  static_cast<void>(assay::wire::body_of<assay::wire::Prune>(frame));
}

/// A tree that passes the check has no path that leads out of its folder.
void check_tree_request(const Frame& frame) {
  auto tree = assay::wire::body_of<assay::wire::Tree>(frame);
  if (!tree) {
    return;
  }
  static_cast<void>(assay::wire::check_tree(*tree));
  tree->digest = assay::wire::digest_of_tree(tree->files);
  if (!assay::wire::check_tree(*tree)) {
    return;
  }
  for (const auto& file : tree->files) {
    const std::filesystem::path path(file.path);
    ASSAY_CHECK(path.is_relative() && path.lexically_normal() == path && *path.begin() != "..");
  }
}

void read_answers_of_agent(const Frame& frame) {
  static_cast<void>(assay::wire::body_from_answer<assay::wire::PutReply>(frame));
  static_cast<void>(assay::wire::body_from_answer<assay::wire::TreeReply>(frame));
  static_cast<void>(assay::wire::body_from_answer<assay::wire::Space>(frame));
  static_cast<void>(assay::wire::body_from_answer<assay::wire::PruneReply>(frame));
  static_cast<void>(assay::wire::body_from_answer<assay::Environment>(frame));
}

void check_measurement(const Frame& frame) {
  auto measurement = assay::wire::body_from_answer<assay::Measurement>(frame);
  auto samples = assay::wire::samples_from_blob(frame.blob);
  if (!samples) {
    return;
  }
  ASSAY_CHECK(assay::wire::blob_from_samples(*samples) == frame.blob);
  if (measurement) {
    measurement->samples = *std::move(samples);
    static_cast<void>(assay::wire::check_measurement(*measurement, {}, kWallNs));
  }
}

void read_answers(const Frame& frame) {
  static_cast<void>(assay::wire::error_from_frame(frame));
  static_cast<void>(assay::wire::body_from_answer<assay::wire::StageNote>(frame));
  static_cast<void>(assay::wire::body_from_answer<assay::SpawnResult>(frame));
  check_measurement(frame);
  if (const auto hello = assay::wire::body_from_answer<assay::wire::Hello>(frame)) {
    static_cast<void>(assay::wire::check_hello(*hello));
    static_cast<void>(assay::wire::agree_on_version(*hello));
  }
  if (const auto report = assay::wire::body_from_answer<assay::LoadReport>(frame);
      report && assay::wire::check_load_report(*report, kWallNs)) {
    ASSAY_CHECK(assay::wire::load_ns_from_report(*report) <= kWallNs);
  }
  if (const auto reply = assay::wire::body_from_answer<assay::wire::InferReply>(frame)) {
    static_cast<void>(assay::wire::check_infer_reply(*reply, {}, 1, frame.blob));
  }
  if (const auto report = assay::wire::body_from_answer<assay::MemoryReport>(frame)) {
    static_cast<void>(assay::wire::check_memory_report(*report, {}));
  }
  if (const auto report = assay::wire::body_from_answer<assay::ProfileReport>(frame)) {
    static_cast<void>(assay::wire::check_profile_report(*report, {}, kWallNs));
  }
}

void check_frame(const Frame& frame) {
  check_round_trip(frame);
  read_requests(frame);
  check_tree_request(frame);
  read_answers(frame);
  read_answers_of_agent(frame);
  static_cast<void>(assay::wire::check_answers(std::array{frame}, std::array{frame}));
}

/// Checksums stop nearly every mutated input at the door, so the payload is also tried with the
/// checksum that fits: first byte is the JSON's share, the rest the payload.
void check_payload(std::span<const std::byte> bytes) {
  if (bytes.empty()) {
    return;
  }
  const auto payload = bytes.subspan(1);
  const auto json_bytes = payload.size() * static_cast<std::size_t>(bytes[0]) / 255;
  const assay::wire::FrameHeader header{.version = 1,
                                        .type = 40,
                                        .json_bytes = static_cast<std::uint32_t>(json_bytes),
                                        .blob_bytes = payload.size() - json_bytes,
                                        .payload_crc = assay::wire::frame_checksum({payload})};
  if (const auto frame = assay::wire::frame_from_payload(header, payload)) {
    check_frame(*frame);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  for (const auto& frame : assay::wire::frames_from_bytes(bytes).frames) {
    check_frame(frame);
  }
  check_payload(bytes);
  return 0;
}
