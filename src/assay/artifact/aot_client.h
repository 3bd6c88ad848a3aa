#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/artifact/toolchain.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/record/axes.h"
#include "assay/record/conclusion.h"
#include "assay/record/sandbox.h"

namespace assay {

/// Result of one ahead-of-time job; docs/contracts/aot.md has the contract.
struct AotReply {
  Conclusion conclusion;
  Json result;
};

/// How long a job of the toolchain may take, so that none holds a run for ever:
/// $ASSAY_BUILD_TIMEOUT, a duration such as 2h; absent: 30 minutes.
/// Errors: kInvalidArgument: it is no duration.
Result<std::int64_t> build_timeout_ns();

/// Client of a toolchain's fork server (python -m assay.toolchain.server): jobs out, replies in,
/// JSON lines.
class AotClient {
 public:
  /// A cold disk reads torch slowly.
  static constexpr std::chrono::minutes kStartLimit{3};

  /// Starts the server, in a sandbox where `box` asks for one; it imports the toolchain once
  /// (seconds). Errors: kUnavailable, also where it is not ready within the limit.
  static Result<AotClient> start(const Toolchain& toolchain, const SandboxRequest& box,
                                 int parallel_jobs, const std::filesystem::path& log_file,
                                 std::chrono::milliseconds limit = kStartLimit);

  using OnStage = std::function<void(int job, Stage stage)>;
  using OnDone = std::function<void(int job, const AotReply& reply)>;

  /// Runs all jobs, at most `parallel_jobs` at a time, and returns their replies in order. A job
  /// that kills its process is one reply; only the server's own death is an error (kCrashed).
  /// A job without "timeout_ns" gets build_timeout_ns. `should_stop` is asked several times a
  /// second; true ends it with kTimeout.
  Result<std::vector<AotReply>> run(const std::vector<Json>& jobs, const OnStage& on_stage,
                                    const OnDone& on_done,
                                    const std::function<bool()>& should_stop);

  /// One job without progress.
  Result<AotReply> run_one(const Json& job);

 private:
  AotClient(std::optional<TemporaryFolder> folder, Subprocess process)
      : folder_(std::move(folder)), process_(std::move(process)) {}
  Result<std::optional<Json>> next_event();
  std::optional<TemporaryFolder> folder_;  ///< Private folder of a sandbox; outlives the process.
  Subprocess process_;
};

}  // namespace assay
