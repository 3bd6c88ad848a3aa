#include "assay/wire/messages.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <span>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/text.h"
#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/wire/frame.h"

namespace assay::wire {

Result<int> agree_on_version(const Hello& theirs) {
  const int low = std::max<int>(theirs.protocol_min, kVersionMin);
  const int high = std::min<int>(theirs.protocol_max, kVersionMax);
  if (low > high) {
    return fail(
        ErrorCode::kUnsupported,
        fmt::format("'{}' speaks wire versions {} to {}, this program {} to {}; update {}",
                    theirs.program, theirs.protocol_min, theirs.protocol_max, kVersionMin,
                    kVersionMax, theirs.protocol_max < kVersionMin ? "it" : "this program"));
  }
  return high;
}

Frame error_frame(std::uint32_t request, const Error& error, Stage stage) {
  const ErrorBody body{.code = error.code,
                       .stage = stage,
                       .engine_code = error.engine_code,
                       .message = error.message};
  return frame_of(MessageType::kError, request, body);
}

Error error_from_frame(const Frame& frame) {
  auto body = body_of<ErrorBody>(frame);
  if (frame.type != MessageType::kError || !body) {
    return {.code = ErrorCode::kCorrupt,
            .message = body ? "an error was expected" : "malformed error: " + body.error().message};
  }
  if (!body->engine_code.empty()) {
    body->message += fmt::format(" (the engine's code: {})", body->engine_code);
  }
  return {.code = body->code, .message = capped_text(std::move(body->message))};
}

// The columns are copied as they lie in memory.
static_assert(std::endian::native == std::endian::little);

std::vector<std::byte> blob_from_samples(const PhaseSamples& samples) {
  ASSAY_CHECK(samples.bind_ns.size() == samples.execute_ns.size() &&
              samples.bind_ns.size() == samples.fetch_ns.size());
  std::vector<std::byte> blob;
  for (const auto* column : {&samples.bind_ns, &samples.execute_ns, &samples.fetch_ns}) {
    const auto bytes = std::as_bytes(std::span(*column));
    blob.insert(blob.end(), bytes.begin(), bytes.end());
  }
  return blob;
}

Result<PhaseSamples> samples_from_blob(std::span<const std::byte> blob) {
  constexpr std::size_t kColumns = 3;
  if (blob.size() % (kColumns * sizeof(std::int64_t)) != 0) {
    return fail(
        ErrorCode::kCorrupt,
        fmt::format("{} bytes of samples are not three equal columns of int64", blob.size()));
  }
  const auto column_bytes = blob.size() / kColumns;
  PhaseSamples samples;
  for (auto* column : {&samples.bind_ns, &samples.execute_ns, &samples.fetch_ns}) {
    column->resize(column_bytes / sizeof(std::int64_t));
    std::ranges::copy(blob.first(column_bytes), std::as_writable_bytes(std::span(*column)).begin());
    blob = blob.subspan(column_bytes);
  }
  return samples;
}

ASSAY_DEFINE_JSON(Hello, protocol_min, protocol_max, program, engine, version, build_id, target,
                  clock_resolution_ns, heartbeat_ns, boot_id, home, uptime_ns)
ASSAY_DEFINE_JSON(Load, entry, data, method, options, libraries)
ASSAY_DEFINE_JSON(InputSource, file, in_blob, is_generated, seed, samples, converts_floating)
ASSAY_DEFINE_JSON(Measure, inputs, plan)
ASSAY_DEFINE_JSON(Infer, inputs, repeat, return_inputs)
ASSAY_DEFINE_JSON(InferReply, samples, repeat, differing_elements)
ASSAY_DEFINE_JSON(Observe, inputs, iterations, time_budget_ns, leak_loads, leak_inferences)
ASSAY_DEFINE_JSON(StageNote, stage)
ASSAY_DEFINE_JSON(ErrorBody, code, stage, engine_code, message)

}  // namespace assay::wire
