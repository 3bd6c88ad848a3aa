// Checks of describing, loading, and refusing to load.
#include "features/engine_check/checks.h"
#include "features/engine_check/conversation.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/engine/engine.h"
#include "assay/record/launch.h"
#include "assay/tensor/tensor.h"
#include "assay/wire/frame.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

using wire::Frame;
using wire::MessageType;

constexpr std::array<std::string_view, 3> kOptionTypes = {"int", "bool", "string"};
constexpr std::size_t kNoiseBytes = 4096;

std::string lacking_in(const EngineDescription& description) {
  const std::array<std::pair<const char*, bool>, 4> parts = {{
      {"name", description.name.empty()},
      {"version", description.version.empty()},
      {"build_id", description.build_id.empty()},
      {"formats", description.formats.empty()},
  }};
  std::vector<std::string> lacking;
  for (const auto& [name, is_lacking] : parts) {
    if (is_lacking) {
      lacking.emplace_back(name);
    }
  }
  for (const auto& option : description.options) {
    if (std::ranges::find(kOptionTypes, option.type) == kOptionTypes.end()) {
      lacking.push_back(fmt::format("a type of option '{}'", option.name));
    }
  }
  return fmt::format("{}", fmt::join(lacking, ", "));
}

Result<Found> describes_itself(CheckContext& context) {
  const Frame describe{.type = MessageType::kDescribe};
  ASSAY_ASSIGN_OR_RETURN(const auto talk, context.interviewer.ask({describe, describe}));
  const auto first = talk.answer(0);
  const auto second = talk.answer(1);
  if (!first || !second) {
    return failed(first ? second.error().message : first.error().message);
  }
  ASSAY_ASSIGN_OR_RETURN(context.description, talk.body<EngineDescription>(0));
  if (first->body != second->body) {
    return failed("it describes itself differently the second time");
  }
  const auto lacking = lacking_in(context.description);
  return lacking.empty() ? passed(fmt::format("{} {}, loads {}", context.description.name,
                                              context.description.version,
                                              fmt::join(context.description.formats, ", ")))
                         : failed("its description lacks " + lacking);
}

std::string text_of(const std::vector<TensorSpec>& specs) {
  std::vector<std::string> texts;
  texts.reserve(specs.size());
  for (const auto& spec : specs) {
    texts.push_back(fmt::format("{} {}", name_of(spec.dtype), text_from_shape(spec.shape)));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

Result<Found> loads_the_program(CheckContext& context) {
  ASSAY_ASSIGN_OR_RETURN(const auto talk,
                         context.interviewer.ask({context.interviewer.load_frame()}));
  auto report = talk.body<LoadReport>(0);
  if (!report) {
    return failed(report.error().message);
  }
  context.report = *std::move(report);
  if (context.report.outputs.empty()) {
    return failed("it reports no output");
  }
  if (context.report.stages.empty()) {
    return failed("it reports no stage of loading, so there is no load time");
  }
  return passed(
      fmt::format("{} -> {}", text_of(context.report.inputs), text_of(context.report.outputs)));
}

/// A load of that entry in place of the program.
Frame load_of(const Interviewer& interviewer, const stdfs::path& entry) {
  auto frame = interviewer.load_frame();
  frame.body["entry"] = entry.string();
  return frame;
}

/// The program's file under its own name, with other content.
Result<stdfs::path> write_damaged(const stdfs::path& folder, const stdfs::path& entry,
                                  std::string_view content) {
  stdfs::create_directories(folder);
  auto path = folder / entry.filename();
  ASSAY_RETURN_IF_ERROR(write_file_atomically(path, content));
  return path;
}

/// Why the answer is no good refusal; empty: it is one.
std::string loading_complaint(const Conversation& talk, std::size_t question, std::string_view what,
                              std::span<const ErrorCode> allowed) {
  const auto answer = talk.answer(question);
  if (answer) {
    return fmt::format("{}: it was loaded", what);
  }
  if (std::ranges::find(allowed, answer.error().code) != allowed.end()) {
    return "";
  }
  return fmt::format("{}: answered '{}' ({})", what, name_of(answer.error().code),
                     answer.error().message);
}

Result<Found> refuses_damaged_files(CheckContext& context) {
  const auto& entry = context.interviewer.request().entry;
  if (stdfs::is_directory(entry)) {
    return skipped("the program is a folder");
  }
  if (!context.interviewer.request().place.empty()) {
    return skipped("damaged files are made on this machine only");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto folder, TemporaryFolder::make("assay-check"));
  ASSAY_ASSIGN_OR_RETURN(const std::string whole, read_file(entry));
  const std::array<std::pair<const char*, std::string>, 3> damaged = {{
      {"an empty file", ""},
      {"its first half", whole.substr(0, whole.size() / 2)},
      {"a file of noise", std::string(kNoiseBytes, '\x5a')},
  }};
  std::vector<Frame> questions{
      load_of(context.interviewer, folder.path() / "none" / entry.filename())};
  for (const auto& [what, content] : damaged) {
    ASSAY_ASSIGN_OR_RETURN(const auto path, write_damaged(folder.path() / what, entry, content));
    questions.push_back(load_of(context.interviewer, path));
  }
  questions.push_back(context.interviewer.load_frame());
  ASSAY_ASSIGN_OR_RETURN(const auto talk, context.interviewer.ask(questions));
  constexpr std::array kMissing = {ErrorCode::kNotFound};
  constexpr std::array kDamaged = {ErrorCode::kCorrupt, ErrorCode::kUnsupported, ErrorCode::kEngine,
                                   ErrorCode::kInvalidArgument};
  std::vector<std::string> complaints{loading_complaint(talk, 0, "a missing file", kMissing)};
  for (std::size_t i = 0; i < damaged.size(); ++i) {
    complaints.push_back(loading_complaint(talk, i + 1, damaged[i].first, kDamaged));
  }
  if (const auto good = talk.answer(questions.size() - 1); !good) {
    complaints.push_back("the program itself does not load after these: " + good.error().message);
  }
  std::erase(complaints, "");
  return complaints.empty() ? passed("a missing, empty, halved and foreign file; then it loads")
                            : failed(fmt::format("{}", fmt::join(complaints, "; ")));
}

Result<Found> refuses_unknown_requests(CheckContext& context) {
  auto method = context.interviewer.load_frame();
  method.body["method"] = "no_such_method";
  auto library = context.interviewer.load_frame();
  library.body["libraries"] = {"/no/such/library.so"};
  const std::vector<Frame> questions{context.interviewer.load_frame({{"no_such_option", 1}}),
                                     method, library, context.interviewer.load_frame()};
  ASSAY_ASSIGN_OR_RETURN(const auto talk, context.interviewer.ask(questions));
  constexpr std::array kOption = {ErrorCode::kInvalidArgument};
  constexpr std::array kAbsent = {ErrorCode::kNotFound, ErrorCode::kUnsupported};
  std::vector<std::string> complaints{
      loading_complaint(talk, 0, "an unknown option", kOption),
      loading_complaint(talk, 1, "an unknown method", kAbsent),
      loading_complaint(talk, 2, "a missing library", kAbsent),
  };
  if (const auto good = talk.answer(3); !good) {
    complaints.push_back("the program itself does not load after these: " + good.error().message);
  }
  std::erase(complaints, "");
  return complaints.empty() ? passed("an unknown option and method, a missing library")
                            : failed(fmt::format("{}", fmt::join(complaints, "; ")));
}

constexpr std::array<Check, 4> kLoadingChecks = {{
    {"describes_itself", describes_itself},
    {"loads_the_program", loads_the_program},
    {"refuses_damaged_files", refuses_damaged_files},
    {"refuses_unknown_requests", refuses_unknown_requests},
}};

}  // namespace

std::span<const Check> loading_checks() { return kLoadingChecks; }

}  // namespace assay
