#include "features/engine_check/thread_check.h"

#include "features/engine_check/checks.h"
#include "features/engine_check/conversation.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/engine/engine.h"
#include "assay/record/launch.h"
#include "assay/wire/frame.h"

namespace assay {
namespace {

constexpr std::size_t kParts = 3;
constexpr std::ptrdiff_t kLeastTellingTries = 2;
constexpr std::int64_t kFirstPartNs = 100'000'000;
constexpr std::int64_t kLaterPartNs = 300'000'000;

bool is_within(int threads, const ThreadCounts& counts) {
  return !counts.empty() && std::ranges::max(counts) <= threads;
}

bool is_over(int threads, const ThreadCounts& counts) {
  return !counts.empty() && std::ranges::min(counts) > threads;
}

std::string text_of_tries(std::span<const ThreadCounts> tries) {
  std::vector<std::string> texts;
  for (const auto& counts : tries) {
    texts.push_back(fmt::format("{}", fmt::join(counts, ", ")));
  }
  return fmt::format("{}", fmt::join(texts, "; then "));
}

Found undecided(int threads, std::span<const ThreadCounts> tries) {
  return skipped(
      fmt::format("cannot tell: asked for {} thread{}, counted in turn {}; a helper that starts "
                  "late looks like this on a busy machine, so check again on a quiet one",
                  threads, threads == 1 ? "" : "s", text_of_tries(tries)));
}

/// Loads with so many threads, and counts those that compute in several parts of one process.
Result<Conversation> count_threads(Interviewer& interviewer, int threads, std::int64_t part_ns) {
  std::vector<wire::Frame> questions{interviewer.load_frame({{"threads", threads}})};
  for (std::size_t i = 0; i < kParts; ++i) {
    questions.push_back(measure_frame({.duration_ns = part_ns}));
  }
  return interviewer.ask(std::move(questions));
}

/// Why a process that was asked for `threads` shows nothing of them; nullopt: it does.
std::optional<Found> find_refusal(const Conversation& talk, int threads) {
  const auto report = talk.body<LoadReport>(0);
  if (!report) {
    return report.error().code == ErrorCode::kUnsupported
               ? skipped("it refuses to be told: " + report.error().message)
               : failed(report.error().message);
  }
  const auto told = report->effective_options.find("threads");
  if (told != report->effective_options.end() && *told != threads && report->notes.empty()) {
    return failed(fmt::format("asked for {} threads, in force are {}, and no note says so", threads,
                              told->dump()));
  }
  for (std::size_t part = 1; part <= kParts; ++part) {
    if (const auto measured = talk.body<Measurement>(part); !measured) {
      return measured.error().code == ErrorCode::kUnsupported
                 ? skipped("cannot tell: " + measured.error().message)
                 : failed(measured.error().message);
    }
  }
  return std::nullopt;
}

ThreadCounts counts_from(const Conversation& talk) {
  ThreadCounts counts;
  for (std::size_t part = 1; part <= kParts; ++part) {
    const auto measured = talk.body<Measurement>(part);
    if (measured && measured->busy_threads) {
      counts.push_back(*measured->busy_threads);
    }
  }
  return counts;
}

Result<Found> check_threads(Interviewer& interviewer, int threads) {
  std::vector<ThreadCounts> tries;
  std::optional<Found> found;
  while (!found) {
    ASSAY_ASSIGN_OR_RETURN(
        const auto talk,
        count_threads(interviewer, threads, tries.empty() ? kFirstPartNs : kLaterPartNs));
    if (auto refusal = find_refusal(talk, threads)) {
      return *std::move(refusal);
    }
    tries.push_back(counts_from(talk));
    found = judge_threads(threads, tries);
  }
  return *std::move(found);
}

}  // namespace

std::optional<Found> judge_threads(int threads, std::span<const ThreadCounts> tries) {
  const auto over = std::ranges::count_if(
      tries, [threads](const ThreadCounts& counts) { return is_over(threads, counts); });
  if (is_within(threads, tries.back())) {
    return over > 0 ? undecided(threads, tries)
                    : passed(fmt::format("{} of {}", std::ranges::max(tries.back()), threads));
  }
  if (tries.size() < kMostThreadTries) {
    return std::nullopt;
  }
  // A process that got too little of a busy machine tells nothing, neither way.
  const auto telling =
      std::ranges::count_if(tries, [](const ThreadCounts& counts) { return !counts.empty(); });
  if (telling >= kLeastTellingTries && over == telling) {
    return failed(fmt::format("asked for {} thread{}, {} computed", threads,
                              threads == 1 ? "" : "s", std::ranges::min(tries.back())));
  }
  return telling > 0 ? undecided(threads, tries)
                     : skipped(
                           "cannot tell: the kernel does not say which threads compute, or they "
                           "compute too little");
}

Result<Found> honours_threads(CheckContext& context) {
  if (std::ranges::find(context.description.options, "threads", &OptionSchema::name) ==
      context.description.options.end()) {
    return skipped("it has no option 'threads'");
  }
  std::vector<std::string> seen;
  for (const int threads : {1, 2}) {
    ASSAY_ASSIGN_OR_RETURN(auto found, check_threads(context.interviewer, threads));
    if (found.verdict != CheckVerdict::kPass) {
      return found;
    }
    seen.push_back(std::move(found.text));
  }
  return passed(fmt::format("computed: {}", fmt::join(seen, ", ")));
}

}  // namespace assay
