// Whatever the bytes are, reading frames and their bodies never crashes, and what was read can be
// written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "assay/base/digest.h"
#include "assay/base/result.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"

namespace {

using assay::wire::Frame;

void check_round_trip(const Frame& frame) {
  const auto again = assay::wire::frames_from_bytes(assay::wire::bytes_from_frame(frame));
  ASSAY_CHECK(again.status && again.frames.size() == 1);
  ASSAY_CHECK(again.frames[0].blob == frame.blob && again.frames[0].request == frame.request);
}

void read_bodies(const Frame& frame) {
  (void)assay::wire::error_from_frame(frame);
  (void)assay::wire::body_of<assay::wire::Hello>(frame);
  (void)assay::wire::body_of<assay::wire::Measure>(frame);
  (void)assay::wire::body_of<assay::wire::StageNote>(frame);
  (void)assay::wire::samples_from_blob(frame.blob);
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
                                        .payload_crc = assay::crc32c({payload})};
  if (const auto frame = assay::wire::frame_from_payload(header, payload)) {
    check_round_trip(*frame);
    read_bodies(*frame);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  for (const auto& frame : assay::wire::frames_from_bytes(bytes).frames) {
    check_round_trip(frame);
    read_bodies(frame);
  }
  check_payload(bytes);
  return 0;
}
