#pragma once

#include <string>
#include <utility>

#include "assay/record/axes.h"

namespace assay {

/// How a process, a launch, an attempt or an ahead-of-time job ended.
struct Conclusion {
  Outcome outcome = Outcome::kHarnessError;
  Stage stage = Stage::kNone;
  std::string reason_code;  ///< Short and stable, for machines; empty when it completed.
  std::string text;         ///< One or two sentences for people.

  static Conclusion completed() { return {.outcome = Outcome::kCompleted, .stage = Stage::kDone}; }
};

/// Reads the conclusion of a record that keeps it in four columns: Launch, Attempt.
template <class Record>
Conclusion conclusion_from(const Record& record) {
  return {.outcome = record.outcome,
          .stage = record.stage,
          .reason_code = record.reason_code,
          .text = record.text};
}

/// Writes it into such a record.
template <class Record>
void set_conclusion(Record& record, Conclusion conclusion) {
  record.outcome = conclusion.outcome;
  record.stage = conclusion.stage;
  record.reason_code = std::move(conclusion.reason_code);
  record.text = std::move(conclusion.text);
}

}  // namespace assay
