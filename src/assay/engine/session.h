#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/launch.h"
#include "assay/record/metric.h"
#include "assay/tensor/tensor.h"

namespace assay {

/// A program loaded in an engine, ready to execute. Destroying it unloads the program.
///
/// The three steps are timed apart, in this order: bind | execute | fetch. When execute starts,
/// inputs lie in the engine's memory; when it returns, the outputs are computed (asynchronous
/// engines are synchronised); when fetch returns, the host can read them.
class Session {
 public:
  virtual ~Session() = default;

  /// Effective options, stage times, inputs and outputs; made once, at load.
  [[nodiscard]] virtual const LoadReport& report() const = 0;

  /// Gives the engine its inputs, one tensor for each of report().inputs. The caller keeps `inputs`
  /// alive until the next bind. Errors: kInvalidArgument for count, shape or dtype, naming both.
  virtual Status bind(std::span<const TensorView> inputs) = 0;

  virtual Status execute() = 0;

  /// Views of the outputs, valid until the next execute, or the next bind of other inputs.
  virtual Result<std::span<const TensorView>> fetch() = 0;

  /// Forgets what earlier inferences left behind (mutable buffers). Errors: kUnsupported.
  virtual Status reset_state() = 0;

  /// The optional extension with this tag, or null; use find_extension<P>.
  virtual void* find_extension(std::string_view /*tag*/) { return nullptr; }
};

/// Asks a session for an optional extension: `if (auto* profiler =
/// find_extension<Profiler>(session))`.
template <class Extension>
Extension* find_extension(Session& session) {
  return static_cast<Extension*>(session.find_extension(Extension::kTag));
}

/// Times operators while it is switched on.
class Profiler {
 public:
  static constexpr std::string_view kTag = "profiler";
  /// Spans are kept of whole inferences, of so many and of so many spans at most.
  static constexpr int kMostSpanIterations = 5;
  static constexpr int kMostSpans = 20'000;
  virtual ~Profiler() = default;
  virtual Status start() = 0;
  /// Events since start, reduced by operator; spans at times of monotonic_ns(), those inside of
  /// others after them. `iterations`: how many inferences ran meanwhile.
  virtual Result<ProfileReport> stop(int iterations) = 0;
};

/// Infers where no clock of ours reaches, in a process of its own, and tells what it took there.
class SelfTimer {
 public:
  /// Inferences in a row: the first one, then warm-up, then the steady ones.
  struct Row {
    int warmup = 0;
    int iterations = 1;

    [[nodiscard]] int count() const { return 1 + warmup + iterations; }
  };

  struct Times {
    /// kAll: `ns` has count() entries; kSteady: at least one, of steady inferences; kNone: none.
    TimesTold told = TimesTold::kAll;
    std::vector<std::int64_t> ns{};        ///< One entry for each reported inference, in order.
    std::int64_t clock_resolution_ns = 0;  ///< Resolution of the times; 0: unknown.
    std::vector<ProgramMetric> metrics{};  ///< Numbers of the whole row.
  };

  static constexpr std::string_view kTag = "self_timer";
  virtual ~SelfTimer() = default;
  /// Infers the bound inputs.
  virtual Result<Times> time_inferences(const Row& row) = 0;
};

/// Infers in a process of its own, which tells the times of its operators.
class SelfProfiler {
 public:
  static constexpr std::string_view kTag = "self_profiler";
  virtual ~SelfProfiler() = default;
  /// So many inferences of the bound inputs in a row, without spans. Errors: kUnsupported where the
  /// program tells nothing of its operators.
  virtual Result<ProfileReport> profile_inferences(int count) = 0;
};

/// Clears up between inferences, at a time that nobody measures.
class Upkeep {
 public:
  static constexpr std::string_view kTag = "upkeep";
  virtual ~Upkeep() = default;
  /// Called after each inference; what takes long is done once in many calls.
  virtual void clear_up() = 0;
};

/// Tells what the engine itself knows of its memory, now; what was freed again is marked as a peak.
class MemoryReporter {
 public:
  static constexpr std::string_view kTag = "memory";
  virtual ~MemoryReporter() = default;
  virtual std::vector<NamedBytes> declared_memory() = 0;
};

}  // namespace assay
