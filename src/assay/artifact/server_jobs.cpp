#include "assay/artifact/server_jobs.h"

#include <cstddef>
#include <expected>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "assay/artifact/aot_client.h"
#include "assay/artifact/aot_servers.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"

namespace assay {
namespace {

constexpr std::size_t kMostCulprits = 5;

/// The jobs under way and what became of them; places are those of ServerJobs::requests.
class JobRunner {
 public:
  JobRunner(const ServerJobs& jobs, AotServers& servers, const AotClient::OnStage& on_stage,
            const AotClient::OnDone& on_done, const std::function<bool()>& should_stop)
      : jobs_(jobs),
        servers_(servers),
        on_stage_(on_stage),
        on_done_(on_done),
        should_stop_(should_stop) {
    for (std::size_t i = 0; i < jobs.requests.size(); ++i) {
      left_.insert(static_cast<int>(i));
    }
  }

  Status run() {
    while (!left_.empty()) {
      ASSAY_ASSIGN_OR_RETURN(const bool is_alive, do_jobs({left_.begin(), left_.end()}));
      if (!is_alive) {
        ASSAY_RETURN_IF_ERROR(find_culprit());
      }
    }
    return {};
  }

 private:
  /// False: the server died meanwhile.
  Result<bool> do_jobs(const std::vector<int>& places) {
    on_stage_(places.front(), Stage::kStart);  // Seconds, where the server is not there yet.
    ASSAY_ASSIGN_OR_RETURN(auto* client, servers_.get(jobs_.toolchain, jobs_.box,
                                                      jobs_.parallel_jobs, jobs_.log_file));
    std::vector<Json> requests;
    requests.reserve(places.size());
    for (const auto place : places) {
      requests.push_back(jobs_.requests[static_cast<std::size_t>(place)]);
    }
    const auto place_of_job = [&places](int job) { return places[static_cast<std::size_t>(job)]; };
    const auto done = client->run(
        requests,
        [&](int job, Stage stage) {
          begun_[place_of_job(job)] = stage;
          on_stage_(place_of_job(job), stage);
        },
        [&](int job, const AotReply& reply) { finish(place_of_job(job), reply); }, should_stop_);
    if (done) {
      return true;
    }
    servers_.drop(jobs_.toolchain, jobs_.box);  // It is dead, or has jobs of ours under way.
    return done.error().code == ErrorCode::kCrashed ? Result<bool>(false)
                                                    : Result<bool>(std::unexpected(done.error()));
  }

  void finish(int place, const AotReply& reply) {
    left_.erase(place);
    on_done_(place, reply);
  }

  /// The jobs that had begun, or all that are left where none told, each by itself.
  Status find_culprit() {
    auto suspects = left_;
    std::erase_if(suspects, [this](int place) { return !begun_.contains(place); });
    const auto alone = suspects.empty() ? left_ : suspects;
    for (const auto place : alone) {
      ASSAY_ASSIGN_OR_RETURN(const bool is_alive, do_jobs({place}));
      if (!is_alive) {
        return blame(place);
      }
    }
    return {};
  }

  Status blame(int place) {
    const auto& label = jobs_.labels[static_cast<std::size_t>(place)];
    finish(place,
           {.conclusion = {.outcome = Outcome::kCrashed,
                           .stage = begun_[place],
                           .reason_code = "server_lost",
                           .text = fmt::format("the ahead-of-time server died twice during this "
                                               "job, the second time with no other job; its log is "
                                               "'{}'",
                                               jobs_.log_file.string())},
            .result = {}});
    if (++culprits_ < kMostCulprits) {
      return {};
    }
    return fail(
        ErrorCode::kUnavailable,
        fmt::format("{} jobs ended the ahead-of-time server of '{}', the last of them "
                    "'{}'; its log is '{}'",
                    culprits_, jobs_.toolchain.python.string(), label, jobs_.log_file.string()));
  }

  const ServerJobs& jobs_;
  AotServers& servers_;
  const AotClient::OnStage& on_stage_;
  const AotClient::OnDone& on_done_;
  const std::function<bool()>& should_stop_;
  std::set<int> left_;
  std::map<int, Stage> begun_;  ///< And how far they came.
  std::size_t culprits_ = 0;
};

}  // namespace

Status do_server_jobs(const ServerJobs& jobs, AotServers& servers,
                      const AotClient::OnStage& on_stage, const AotClient::OnDone& on_done,
                      const std::function<bool()>& should_stop) {
  return JobRunner(jobs, servers, on_stage, on_done, should_stop).run();
}

}  // namespace assay
