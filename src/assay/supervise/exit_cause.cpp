#include "assay/supervise/exit_cause.h"

#include <csignal>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/enum_names.h"
#include "assay/base/error_code_names.h"  // IWYU pragma: keep
#include "assay/base/units.h"
#include "assay/device/text_fields.h"
#include "assay/record/axes.h"
#include "assay/record/conclusion.h"
#include "assay/record/launch.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"

namespace assay {
namespace {

using wire::MessageType;

Stage last_stage(const wire::FrameSequence& answers) {
  Stage stage = Stage::kStart;
  for (const auto& frame : answers.frames) {
    if (frame.type == MessageType::kStage) {
      if (const auto note = wire::body_of<wire::StageNote>(frame)) {
        stage = note->stage;
      }
    }
  }
  return stage;
}

/// The last frame that answers something: notes, log lines and the farewell apart.
const wire::Frame* find_last_answer(const wire::FrameSequence& answers) {
  const wire::Frame* last = nullptr;
  for (const auto& frame : answers.frames) {
    if (frame.type != MessageType::kStage && frame.type != MessageType::kLog &&
        frame.type != MessageType::kBye) {
      last = &frame;
    }
  }
  return last;
}

bool said_bye(const wire::FrameSequence& answers) {
  return answers.status && !answers.frames.empty() &&
         answers.frames.back().type == MessageType::kBye;
}

/// "; its last words: …", or nothing.
std::string last_line_of(const ProcessEnd& end) {
  const auto words = trimmed(end.last_words);
  const auto line = trimmed(words.substr(words.rfind('\n') + 1));
  return line.empty() ? std::string{} : fmt::format("; its last line on stderr: {}", line);
}

/// Finds the limit by which the supervisor ended it.
std::optional<Conclusion> find_limit(const ProcessEnd& end, Stage stage) {
  if (end.is_timed_out) {
    return Conclusion{Outcome::kTimedOut, stage, "deadline",
                      fmt::format("killed at its deadline, after {}",
                                  text_from_duration_ns(static_cast<double>(end.wall_ns)))};
  }
  if (end.is_out_of_memory) {
    return Conclusion{Outcome::kOutOfMemory, stage, "out_of_memory",
                      fmt::format("killed for its memory; its peak was {}",
                                  text_from_bytes(static_cast<double>(end.peak_rss_bytes)))};
  }
  if (end.is_output_exceeded) {
    return Conclusion{
        Outcome::kCrashed, stage, "output_limit",
        "killed because it wrote more to its stdout than it may; where its outputs are large, "
        "evaluate fewer samples"};
  }
  return std::nullopt;
}

std::optional<Conclusion> find_reported_error(const ProcessEnd& end,
                                              const wire::FrameSequence& answers, Stage stage) {
  const auto* last = find_last_answer(answers);
  const bool is_over = end.signal != 0 || end.exit_code != 0 || !said_bye(answers);
  if (last == nullptr || last->type != MessageType::kError || !is_over) {
    return std::nullopt;
  }
  const auto error = wire::error_from_frame(*last);
  const auto body = wire::body_of<wire::ErrorBody>(*last);
  if (body && body->stage != Stage::kNone) {
    stage = body->stage;
  }
  auto text = error.message;
  if (end.signal != 0) {
    text += fmt::format("; the process was then ended by {}", end.signal_name);
  }
  return Conclusion{outcome_from_error(error.code, stage), stage, std::string(name_of(error.code)),
                    std::move(text)};
}

/// Something that is no frame, or half of one.
std::optional<Conclusion> find_damage(const ProcessEnd& end, const wire::FrameSequence& answers,
                                      Stage stage) {
  if (answers.status) {
    return std::nullopt;
  }
  if (answers.is_truncated) {
    return Conclusion{Outcome::kCrashed, stage, "truncated_answer",
                      fmt::format("exited with {} in the middle of an answer{}", end.exit_code,
                                  last_line_of(end))};
  }
  return Conclusion{Outcome::kCrashed, stage, "garbage_on_wire",
                    fmt::format("its answer is damaged: {}{}", answers.status.error().message,
                                last_line_of(end))};
}

}  // namespace

Conclusion find_exit_cause(const ProcessEnd& end, const wire::FrameSequence& answers) {
  const auto stage = last_stage(answers);
  if (auto limit = find_limit(end, stage)) {
    return *std::move(limit);
  }
  if (auto error = find_reported_error(end, answers, stage)) {
    return *std::move(error);
  }
  if (end.signal != 0) {
    // Anybody may send SIGKILL, and the kernel did not tell of it.
    return {Outcome::kCrashed, stage, end.signal_name,
            fmt::format("ended by {} in stage {}{}{}", end.signal_name, name_of(stage),
                        end.signal == SIGKILL ? ", perhaps for want of memory" : "",
                        last_line_of(end))};
  }
  if (auto damage = find_damage(end, answers, stage)) {
    return *std::move(damage);
  }
  if (end.exit_code != 0) {
    return {Outcome::kCrashed, stage, fmt::format("exit_code_{}", end.exit_code),
            fmt::format("exited with {} in stage {}{}", end.exit_code, name_of(stage),
                        last_line_of(end))};
  }
  if (!said_bye(answers)) {
    return {Outcome::kCrashed, stage, "exited_early",
            fmt::format("exited with 0 in stage {}, before it had answered everything{}",
                        name_of(stage), last_line_of(end))};
  }
  return Conclusion::completed();
}

}  // namespace assay
