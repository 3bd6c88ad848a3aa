#include "assay/compare/side_runner.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <random>
#include <string>
#include <system_error>
#include <utility>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/base/uuid.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/case_order.h"
#include "assay/campaign/launch_order.h"
#include "assay/campaign/preparation.h"
#include "assay/campaign/surroundings.h"
#include "assay/compare/pair_order.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/comparison.h"
#include "assay/record/launch.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr std::size_t kMostPadding = 4096;

/// The environment lies above the stack: its length moves the stack's alignment, and with it the
/// speed of some code. Of a random length, no side is lucky throughout.
/// Source: Mytkowicz et al., Producing Wrong Data Without Doing Anything Obviously Wrong!, 2009.
std::string random_padding(std::uint64_t seed, int launch) {
  std::seed_seq mixed{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(launch), 77U};
  std::mt19937 random(mixed);
  return std::string(random() % kMostPadding, 'x');
}

Status check_has_program(const PreparedCase& prepared) {
  if (!prepared.cell.recipe.runtime_unavailable.empty()) {
    return fail(ErrorCode::kUnavailable, fmt::format("{}: {}", label_of(prepared.cell),
                                                     prepared.cell.recipe.runtime_unavailable));
  }
  if (!prepared.artifact) {
    return fail(
        ErrorCode::kUnavailable,
        fmt::format("{} has no program: {}", label_of(prepared.cell), prepared.failure.text));
  }
  return {};
}

}  // namespace

Result<SideRunner> SideRunner::prepare(const CampaignRequest& request, const CampaignTools& tools,
                                       bool has_canary) {
  ASSAY_CHECK(request.cases.size() == 2);
  ASSAY_ASSIGN_OR_RETURN(const auto prepared, prepare_cases(request, tools));
  ASSAY_ASSIGN_OR_RETURN(auto files, TemporaryFolder::make("assay-compare"));
  SideRunner runner(request, tools, std::move(files));
  ASSAY_RETURN_IF_ERROR(runner.add_side(Side::kA, prepared.at(0)));
  ASSAY_RETURN_IF_ERROR(runner.add_side(Side::kB, prepared.at(1)));
  if (has_canary) {
    ASSAY_RETURN_IF_ERROR(runner.add_canary());
  }
  return runner;
}

Status SideRunner::add_side(Side side, const PreparedCase& prepared) {
  ASSAY_RETURN_IF_ERROR(check_has_program(prepared));
  Attempt attempt{.id = make_uuid7(),
                  .run = request_.run.id,
                  .case_key = case_key(prepared.cell),
                  .subject = subject_key(prepared.subject),
                  .device = prepared.cell.device,
                  .pass = Pass::kTiming,
                  .worker = "local"};
  ASSAY_RETURN_IF_ERROR(tools_.store.put_attempt(attempt));
  auto order = order_of_case(prepared, Pass::kTiming, request_.settings);
  ASSAY_RETURN_IF_ERROR(apply_scenario(prepared.cell, 0, request_.environment.cpus, request_.builds,
                                       files_.path(), order));
  places_[side] = {.order = std::move(order), .attempt = attempt.id};
  attempts_[attempt.id] = std::move(attempt);
  return {};
}

Status SideRunner::add_canary() {
  auto place = places_.at(Side::kA);
  const stdfs::path from(place.order.artifact.folder);
  for (const auto& file : place.order.artifact.files) {
    std::error_code error;
    stdfs::copy_file(from / file.name, files_.path() / file.name, error);
    if (error) {
      return fail(ErrorCode::kExhausted,
                  fmt::format("cannot copy '{}' for the canary: {}; --no-canary does without",
                              (from / file.name).string(), error.message()));
    }
  }
  place.order.artifact.folder = files_.path().string();
  for (auto& file : place.order.surroundings.files) {
    file = (files_.path() / stdfs::path(file).filename()).string();
  }
  places_[Side::kCanary] = std::move(place);
  return {};
}

Result<Launch> SideRunner::launch(const PairStep& step, const PairPlace& place) {
  auto& [order, attempt] = places_.at(step.side);
  if (!place.cpus.empty()) {
    order.cpus = place.cpus;
  }
  order.env = {{"ASSAY_PADDING", random_padding(request_.run.seed, launched_)}};
  if (!agent_) {
    ASSAY_ASSIGN_OR_RETURN(agent_, tools_.connect_agent());
  }
  ASSAY_ASSIGN_OR_RETURN(auto yield, run_launch(*agent_, order));
  auto& launch = yield.launch;
  launch.attempt = attempt;
  launch.index = counts_[attempt]++;
  launch.order = launched_++;
  launch.place = place;
  ASSAY_RETURN_IF_ERROR(tools_.store.add_launch(launch));
  auto& record = attempts_.at(attempt);
  record.outcome = launch.outcome;
  record.stage = launch.stage;
  record.reason_code = launch.reason_code;
  record.text = launch.text;
  return std::move(launch);
}

Status SideRunner::finish() {
  for (auto& [id, attempt] : attempts_) {
    attempt.is_finished = true;
    ASSAY_RETURN_IF_ERROR(tools_.store.put_attempt(attempt));
  }
  return {};
}

}  // namespace assay
