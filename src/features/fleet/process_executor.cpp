#include "features/fleet/process_executor.h"

#include "features/fleet/executor.h"
#include "features/fleet/fleet_job.h"
#include "features/fleet/fleet_worker.h"
#include "features/fleet/json_process.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {
namespace {

/// A database that starts anew is waited for by the other side.
constexpr std::chrono::minutes kAnswerTimeout{5};

/// Throws std::out_of_range for another name.
FleetEvent::Kind event_kind(const std::string& name) {
  static const std::map<std::string, FleetEvent::Kind> kinds = {
      {"started", FleetEvent::Kind::kStarted},
      {"done", FleetEvent::Kind::kDone},
      {"silent", FleetEvent::Kind::kSilent},
      {"lost", FleetEvent::Kind::kLost},
      {"cancelled", FleetEvent::Kind::kCancelled}};
  return kinds.at(name);
}

FleetEvent event_from_json(const Json& event) {
  return {.kind = event_kind(event.at("event").get<std::string>()),
          .job = event.value("job", ""),
          .n = event.value("n", 0),
          .device = event.value("device", ""),
          .part = event.value("part", ""),
          .why = event.value("why", "")};
}

FleetQueue queue_from_json(const Json& queue) {
  return {.run = queue.at("run").get<std::string>(),
          .waiting = queue.at("waiting").get<int>(),
          .executing = queue.at("executing").get<int>(),
          .expected_ns = queue.at("expected_ns").get<std::int64_t>()};
}

class ProcessExecutor final : public Executor {
 public:
  ProcessExecutor(TemporaryFolder parts, JsonProcess process)
      : parts_(std::move(parts)), process_(std::move(process)) {}

  Result<std::vector<FleetWorker>> workers() override {
    return read({{"ask", "workers"}}, [](const Json& answer) -> Result<std::vector<FleetWorker>> {
      std::vector<FleetWorker> workers;
      for (const auto& one : answer.at("workers")) {
        ASSAY_ASSIGN_OR_RETURN(auto worker, worker_from_json(one));
        workers.push_back(std::move(worker));
      }
      return workers;
    });
  }

  Result<Submission> submit(const FleetJob& job) override {
    return read({{"ask", "submit"}, {"queue", job.device.queue()}, {"job", json_from_job(job)}},
                [](const Json& answer) -> Result<Submission> {
                  const auto submission = answer.at("submission").get<std::string>();
                  return submission == "lost"       ? Submission::kLostBefore
                         : submission == "followed" ? Submission::kFollowed
                                                    : Submission::kQueued;
                });
  }

  Result<std::optional<FleetEvent>> next(std::chrono::milliseconds timeout) override {
    return read({{"ask", "next"}, {"timeout_s", static_cast<double>(timeout.count()) / 1000}},
                [](const Json& answer) -> Result<std::optional<FleetEvent>> {
                  const auto& event = answer.at("next");
                  return event.is_null() ? std::nullopt : std::optional(event_from_json(event));
                });
  }

  Status forget(const std::filesystem::path& part) override {
    return tell({{"ask", "forget"}, {"part", part.string()}});
  }

  Result<int> cancel(const std::string& run) override {
    return read({{"ask", "cancel"}, {"run", run}}, [](const Json& answer) -> Result<int> {
      return answer.at("cancelled").get<int>();
    });
  }

  Result<std::vector<FleetQueue>> queues() override {
    return read({{"ask", "queues"}}, [](const Json& answer) -> Result<std::vector<FleetQueue>> {
      std::vector<FleetQueue> queues;
      std::ranges::transform(answer.at("queues"), std::back_inserter(queues), queue_from_json);
      return queues;
    });
  }

  Status drain(const std::string& device, const std::string& reason) override {
    return tell({{"ask", "drain"}, {"device", device}, {"reason", reason}});
  }

 private:
  Status tell(const Json& request) {
    return read(request, [](const Json& /*answer*/) -> Status { return {}; });
  }

  template <class Reader>
  auto read(const Json& request, const Reader& reader) -> decltype(reader(Json())) {
    ASSAY_ASSIGN_OR_RETURN(const auto answer, process_.ask(request, kAnswerTimeout));
    try {
      return reader(answer);
    } catch (const std::exception& error) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("the executor answered what cannot be read: {}", error.what()));
    }
  }

  TemporaryFolder parts_;  ///< Here and not there: the process is killed at the end.
  JsonProcess process_;
};

}  // namespace

Result<std::unique_ptr<Executor>> open_process_executor(const std::string& kind, const Json& entry,
                                                        const std::filesystem::path& python) {
  ASSAY_ASSIGN_OR_RETURN(auto process, JsonProcess::start(python, "assay.fleet." + kind, {}));
  ASSAY_ASSIGN_OR_RETURN(auto parts, TemporaryFolder::make("assay-parts"));
  ASSAY_ASSIGN_OR_RETURN(
      [[maybe_unused]] const auto answer,
      process.ask({{"ask", "open"}, {"entry", entry}, {"folder", parts.path().string()}},
                  kAnswerTimeout));
  return std::make_unique<ProcessExecutor>(std::move(parts), std::move(process));
}

}  // namespace assay
