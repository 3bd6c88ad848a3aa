#include "assay/summary/case_outcome.h"

#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <string_view>

#include "assay/base/enum_names.h"
#include "assay/record/axes.h"
#include "assay/record/run.h"
#include "assay/record/summary.h"
#include "assay/record/unfinished.h"
#include "assay/summary/case_rows.h"

namespace assay {
namespace {

constexpr std::array kPasses = {Pass::kTiming, Pass::kEvaluate, Pass::kMemory, Pass::kProfile};

/// How an attempt ended, better first.
enum class End : std::uint8_t { kCompleted, kRefused, kUnfinished, kFailed };

End end_of(const Attempt& attempt) {
  if (!attempt.is_finished) {
    return End::kUnfinished;
  }
  if (attempt.outcome == Outcome::kCompleted) {
    return End::kCompleted;
  }
  return is_refusal(attempt.outcome) ? End::kRefused : End::kFailed;
}

/// A campaign that came to no end has said why; one that was killed or stopped has not.
std::string unfinished_text(std::string_view said) {
  return fmt::format("{}; resume with assay run --resume",
                     said.empty() ? "the run was stopped before this case finished" : said);
}

void take_from_attempt(const Attempt& attempt, CaseSummary& summary) {
  summary.outcome = attempt.is_finished ? attempt.outcome : Outcome::kSkipped;
  summary.stage = attempt.stage;
  summary.reason_code = attempt.is_finished ? attempt.reason_code : std::string(kUnfinished);
  summary.text = attempt.is_finished ? attempt.text : unfinished_text(attempt.text);
}

std::string note_of_pass(Pass pass, const Attempt& attempt) {
  const auto how = attempt.is_finished ? name_of(attempt.outcome) : kUnfinished;
  return fmt::format("the {} pass did not complete: {}{}{}", name_of(pass), how,
                     attempt.text.empty() ? "" : ": ", attempt.text);
}

/// The pass that decides, or the first one if all completed; the end if there is none.
auto worst_of_passes(const CaseRows& rows) {
  auto worst = rows.attempts.end();
  for (const auto pass : kPasses) {
    const auto found = rows.attempts.find(pass);
    if (found != rows.attempts.end() &&
        (worst == rows.attempts.end() || end_of(found->second) > end_of(worst->second))) {
      worst = found;
    }
  }
  return worst;
}

}  // namespace

void decide_outcome(const CaseRows& rows, CaseSummary& summary) {
  const auto worst = worst_of_passes(rows);
  if (worst == rows.attempts.end()) {
    summary.reason_code = kUnfinished;
    summary.text = unfinished_text("the run was stopped before this case was begun");
    return;
  }
  const auto& [pass, attempt] = *worst;
  take_from_attempt(attempt, summary);
  const auto end = end_of(attempt);
  if (end == End::kCompleted) {
    return;
  }
  const auto& launches = rows.launches.at(pass);
  summary.last_words = launches.empty() ? "" : launches.back().end.last_words;
  if (end == End::kFailed || attempt.outcome == Outcome::kUnsupported) {
    summary.notes.push_back(fmt::format("the {} pass did not complete", name_of(pass)));
  }
  for (const auto& [other, of_other] : rows.attempts) {
    if (other != pass && end_of(of_other) != End::kCompleted &&
        (of_other.is_finished != attempt.is_finished || of_other.text != attempt.text)) {
      summary.notes.push_back(note_of_pass(other, of_other));
    }
  }
}

}  // namespace assay
