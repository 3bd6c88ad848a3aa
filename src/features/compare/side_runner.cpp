#include "features/compare/side_runner.h"

#include "features/compare/comparison_request.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <future>
#include <random>
#include <string>
#include <system_error>
#include <utility>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/base/uuid.h"
#include "assay/campaign/attempts.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/case_launch.h"
#include "assay/campaign/iterations.h"
#include "assay/campaign/launch.h"
#include "assay/campaign/launch_conditions.h"
#include "assay/campaign/preparation.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/comparison.h"
#include "assay/record/conclusion.h"
#include "assay/record/launch.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"
#include "assay/spec/named_files.h"

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

}  // namespace

Status check_has_program(const PreparedCase& prepared) {
  const auto why = why_not_launched(prepared);
  if (!why) {
    return {};
  }
  const auto* lack = prepared.artifact ? "" : " has no program";
  return fail(ErrorCode::kUnavailable,
              fmt::format("{}{}: {}", label_of(prepared.cell), lack, why->text));
}

Result<SideRunner> SideRunner::prepare(const ComparisonRequest& request, const CampaignTools& tools,
                                       bool has_canary) {
  ASSAY_ASSIGN_OR_RETURN(const auto prepared,
                         prepare_cases(request.context, {request.a, request.b}, tools));
  ASSAY_ASSIGN_OR_RETURN(auto files, TemporaryFolder::make("assay-compare"));
  SideRunner runner(request, tools, std::move(files));
  ASSAY_RETURN_IF_ERROR(runner.add_side(Side::kA, prepared.at(0)));
  ASSAY_RETURN_IF_ERROR(runner.add_side(Side::kB, prepared.at(1)));
  if (has_canary) {
    ASSAY_RETURN_IF_ERROR(runner.add_canary());
  }
  std::ranges::sort(runner.earlier_, {}, &Launch::order);
  runner.launched_ = runner.earlier_.empty() ? 0 : runner.earlier_.back().order + 1;
  return runner;
}

Status SideRunner::add_side(Side side, const PreparedCase& prepared) {
  ASSAY_RETURN_IF_ERROR(check_has_program(prepared));
  ASSAY_ASSIGN_OR_RETURN(auto attempt, attempt_of(prepared));
  auto request = launch_request_from_case(prepared, Pass::kTiming, request_.context.settings);
  ASSAY_RETURN_IF_ERROR(apply_scenario(prepared.cell, 0, request_.context, files_.path(), request));
  places_[side] = {.request = std::move(request), .attempt = attempt.id};
  attempts_[attempt.id] = std::move(attempt);
  return {};
}

Status SideRunner::add_canary() {
  auto place = places_.at(Side::kA);
  // It names others in its folder, so a copy of it alone would run something else; the canary is
  // then A itself.
  if (is_command_program(place.request.artifact.entry)) {
    places_[Side::kCanary] = std::move(place);
    return {};
  }
  const stdfs::path from(place.request.artifact.folder);
  for (const auto& file : place.request.artifact.files) {
    const auto copy = files_.path() / file.name;
    std::error_code error;
    stdfs::create_directories(copy.parent_path(), error);
    stdfs::copy_file(from / file.name, copy, error);
    if (error) {
      return fail(ErrorCode::kExhausted,
                  fmt::format("cannot copy '{}' for the canary: {}; use --no-canary to skip it",
                              (from / file.name).string(), error.message()));
    }
  }
  place.request.artifact.folder = files_.path().string();
  for (auto& file : place.request.surroundings.files) {
    file = (files_.path() / stdfs::path(file).lexically_relative(from)).string();
  }
  places_[Side::kCanary] = std::move(place);
  return {};
}

Result<Attempt> SideRunner::attempt_of(const PreparedCase& prepared) {
  Attempt wanted{.id = make_uuid7(),
                 .run = request_.context.run.id,
                 .case_key = case_key(prepared.cell),
                 .subject = subject_key(prepared.subject),
                 .artifact = prepared.artifact_id,
                 .device = prepared.cell.device,
                 .pass = Pass::kTiming,
                 .worker = request_.worker};
  if (request_.context.is_resumed) {
    ASSAY_ASSIGN_OR_RETURN(const auto attempts,
                           tools_.store.attempts_of_run(request_.context.run.id));
    const auto found = std::ranges::find_if(attempts, [&](const Attempt& attempt) {
      return attempt.case_key == wanted.case_key && attempt.subject == wanted.subject &&
             !attempts_.contains(attempt.id);  // Both sides may be one case.
    });
    if (found == attempts.end()) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("the program or engine of {} has changed since the comparison began; "
                              "start a new comparison",
                              label_of(prepared.cell)));
    }
    ASSAY_ASSIGN_OR_RETURN(const auto launches, tools_.store.launches_of_attempt(found->id));
    counts_[found->id] = static_cast<int>(launches.size());
    earlier_.insert(earlier_.end(), launches.begin(), launches.end());
    return *found;
  }
  ASSAY_RETURN_IF_ERROR(tools_.store.put_attempt(wanted));
  return wanted;
}

void SideRunner::set_iterations(int iterations) {
  for (auto& [side, place] : places_) {
    place.request.plan = with_iterations(place.request.plan, iterations);
  }
}

LaunchRequest SideRunner::request_at(const PairPlace& place) {
  auto request = places_.at(place.side).request;
  if (!place.cpus.empty()) {
    request.cpus = place.cpus;
  }
  request.env = {{"ASSAY_PADDING", random_padding(request_.context.run.seed, launched_++)}};
  return request;
}

Result<Launch> SideRunner::keep(const PairPlace& place, Launch launch) {
  const auto& attempt = places_.at(place.side).attempt;
  launch.attempt = attempt;
  launch.index = counts_[attempt]++;
  launch.place = place;
  ASSAY_RETURN_IF_ERROR(tools_.store.add_launch(launch));
  set_conclusion(attempts_.at(attempt), conclusion_from(launch));
  return launch;
}

Result<Launch> SideRunner::launch(const PairPlace& place) {
  const auto& side = places_.at(place.side);
  ASSAY_RETURN_IF_ERROR(
      lease_attempt(attempts_.at(side.attempt), longest_launch_ns(side.request), tools_.store));
  const int turn = launched_;
  ASSAY_ASSIGN_OR_RETURN(auto result, launchers_[0].run(request_at(place)));
  result.launch.order = turn;
  return keep(place, std::move(result.launch));
}

Result<std::array<Launch, 2>> SideRunner::launch_together(const std::array<PairPlace, 2>& places) {
  const auto& side = places_.at(places[0].side);
  ASSAY_RETURN_IF_ERROR(
      lease_attempt(attempts_.at(side.attempt), longest_launch_ns(side.request), tools_.store));
  const int turn = launched_;
  const std::array requests = {request_at(places[0]), request_at(places[1])};
  auto beside = std::async(std::launch::async, [&] { return launchers_[1].run(requests[1]); });
  auto first = launchers_[0].run(requests[0]);
  auto second = beside.get();
  if (!first || !second) {
    return std::unexpected((first ? second : first).error());
  }
  first->launch.order = turn;
  second->launch.order = turn + 1;
  ASSAY_ASSIGN_OR_RETURN(auto kept, keep(places[0], std::move(first->launch)));
  ASSAY_ASSIGN_OR_RETURN(auto kept_beside, keep(places[1], std::move(second->launch)));
  return std::array{std::move(kept), std::move(kept_beside)};
}

Status SideRunner::finish() {
  for (auto& [id, attempt] : attempts_) {
    attempt.is_finished = true;
    attempt.lease_until_unix_ns = 0;
    ASSAY_RETURN_IF_ERROR(tools_.store.put_attempt(attempt));
  }
  return {};
}

}  // namespace assay
