#pragma once

#include <memory>
#include <optional>
#include <string>

#include "assay/base/result.h"
#include "assay/engine/engine.h"
#include "assay/engine/session.h"
#include "assay/measure/measure.h"
#include "assay/measure/memory_probe.h"
#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/wire/channel.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"

namespace assay {

/// Answers the requests of a host over one channel: the loop inside a runner process.
///
/// A failed request is answered with an error, and the loop goes on. Before each stage of a request
/// a stage note goes out, so that the host knows where this process died; never inside timing.
class RunnerService {
 public:
  /// `probe` may be empty: then memory requests are unavailable. Engine and channel outlive this.
  /// Takes the "start" reading at once: make the service before anything big happens.
  RunnerService(Engine& engine, wire::Channel& channel, MemoryProbe probe);

  /// Serves until bye or the end of input. Errors: a broken wire; it was told to the host if
  /// possible.
  Status serve();

 private:
  Result<wire::Frame> answer(const wire::Frame& request);
  Result<wire::Frame> answer_or_catch(const wire::Frame& request);

  Result<wire::Frame> hello(const wire::Frame& request);
  Result<wire::Frame> load(const wire::Frame& request);
  Result<wire::Frame> infer(const wire::Frame& request);
  Result<wire::Frame> measure(const wire::Frame& request);
  Result<wire::Frame> profile(const wire::Frame& request);
  Result<wire::Frame> memory(const wire::Frame& request);
  Result<wire::Frame> reset_state(const wire::Frame& request);
  Result<wire::Frame> unload(const wire::Frame& request);

  Result<const EngineDescription*> describe();
  Result<Session*> loaded_session();
  Result<std::vector<std::unique_ptr<Session>>> load_again(int count);
  /// Absent where the system does not tell.
  std::optional<MemoryStage> read_memory(std::string_view stage) const;
  void note(Stage stage);
  StageListener listener();

  Engine& engine_;
  wire::Channel& channel_;
  MemoryProbe probe_;
  std::optional<EngineDescription> description_;
  std::unique_ptr<Session> session_;
  LoadRequest load_request_;  ///< Request that loaded session_.
  std::string load_failure_;
  std::optional<MemoryStage> start_memory_;
  std::optional<MemoryStage> loaded_memory_;
  std::uint32_t request_ = 0;
  Stage stage_ = Stage::kStart;
  Status wire_status_;
};

/// The engine's description, with the target filled in where the engine leaves it empty. What the
/// engine throws becomes kEngine.
Result<EngineDescription> describe_engine(Engine& engine);

}  // namespace assay
