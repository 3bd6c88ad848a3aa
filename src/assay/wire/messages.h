#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/error_code_names.h"  // IWYU pragma: keep
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/wire/frame.h"

/// Bodies of the messages between host and runner, and between host and agent. Paths are the
/// device's. Unknown fields are ignored; an unknown message type is answered with kError.
namespace assay::wire {

/// First message of each side.
struct Hello {
  int protocol_min = kVersionMin;
  int protocol_max = kVersionMax;
  std::string program;  ///< "assay", "assay-agent", "assay-runner-executorch"
  std::string engine;   ///< Runner only.
  std::string version;
  std::string build_id;
  std::string target;  ///< "x86_64-linux-gnu"
  std::int64_t clock_resolution_ns = 0;
  /// Host: how often the agent is to show that it lives while it works on a request; 0: never.
  /// Agent: how often it will.
  std::int64_t heartbeat_ns = 0;
  std::string boot_id;  ///< Agent only: another one after each start of the system; empty: unknown.
  std::string home;     ///< Agent only: the folder for all that it keeps.
  std::int64_t uptime_ns = 0;  ///< Agent only: since the system started; 0: unknown.
};

/// load -> LoadReport (record/launch.h).
struct Load {
  std::string entry;
  std::vector<std::string> data;
  std::string method = "forward";
  Json options = Json::object();
  std::vector<std::string> libraries;
};

/// Source of a request's inputs; exactly one of the three.
struct InputSource {
  std::string file;           ///< safetensors, tensors "<sample>.<index>"
  bool in_blob = false;       ///< The frame's blob has the tensors, in that format.
  bool is_generated = false;  ///< Made from the program's own signature, by the seed.
  std::uint64_t seed = 1;
  int samples = 1;  ///< Number of samples to take or to make.
  /// Floating inputs become the program's floating type, as when a recipe casts a model to float16.
  bool converts_floating = false;
};

/// measure -> Measurement; blob: bind, execute, fetch samples, each (warm-up + steady) int64, in
/// turn.
struct Measure {
  InputSource inputs;
  MeasurePlan plan;
};

/// infer -> InferReply; blob: safetensors "<sample>.<index>", and the inputs as
/// "in.<sample>.<index>" when `return_inputs` is set (generated inputs are only known to the
/// runner).
struct Infer {
  InputSource inputs;
  int repeat = 1;  ///< Executions of each sample; bits that differ are counted.
  bool return_inputs = false;
};

struct InferReply {
  int samples = 0;
  int repeat = 1;
  std::int64_t differing_elements = 0;  ///< Elements that differ between repeats; 0: deterministic.
};

/// profile -> ProfileReport. memory -> MemoryReport (`iterations` inferences between "first" and
/// "steady").
struct Observe {
  InputSource inputs;
  int iterations = 10;
  std::int64_t time_budget_ns = 0;  ///< Limit of the profiled inferences or a leak series; 0: none.
  int leak_loads = 0;               ///< Memory only: cycles of load, inferences, unload.
  int leak_inferences = 0;          ///< Memory only: inferences of one session.
};

/// Tells how far a runner came; the last one before its death is the stage of death.
struct StageNote {
  Stage stage = Stage::kNone;
};

/// error: the failure of one request; the runner stays alive unless it says bye.
struct ErrorBody {
  ErrorCode code = ErrorCode::kInternal;
  Stage stage = Stage::kNone;
  std::string engine_code;  ///< "0x20", the engine's own.
  std::string message;
};

/// The protocol version that both sides speak: the highest of the overlap with kVersionMin to
/// kVersionMax. Errors: kUnsupported, naming both ranges and which side to update.
Result<int> agree_on_version(const Hello& theirs);

Frame error_frame(std::uint32_t request, const Error& error, Stage stage);

/// The failure that an error frame carries; the engine's own code is put into the text.
/// kCorrupt when the frame is no error frame or malformed.
Error error_from_frame(const Frame& frame);

/// A frame whose body is `body` as JSON.
template <class Body>
Frame frame_of(MessageType type, std::uint32_t request, const Body& body) {
  return {.type = type, .request = request, .body = Json(body), .blob = {}};
}

/// The body of a frame. Errors: kCorrupt when a field has the wrong type.
template <class Body>
Result<Body> body_of(const Frame& frame) {
  try {
    return frame.body.get<Body>();
  } catch (const std::exception& error) {
    return fail(ErrorCode::kCorrupt, std::string("malformed message: ") + error.what());
  }
}

/// Puts the three sample columns, which have one length, into a blob: int64 little-endian, bind
/// then execute then fetch. And back; errors: kCorrupt when the blob is not three equal columns.
std::vector<std::byte> blob_from_samples(const PhaseSamples& samples);
Result<PhaseSamples> samples_from_blob(std::span<const std::byte> blob);

ASSAY_DECLARE_JSON(Hello);
ASSAY_DECLARE_JSON(Load);
ASSAY_DECLARE_JSON(InputSource);
ASSAY_DECLARE_JSON(Measure);
ASSAY_DECLARE_JSON(Infer);
ASSAY_DECLARE_JSON(InferReply);
ASSAY_DECLARE_JSON(Observe);
ASSAY_DECLARE_JSON(StageNote);
ASSAY_DECLARE_JSON(ErrorBody);

}  // namespace assay::wire
