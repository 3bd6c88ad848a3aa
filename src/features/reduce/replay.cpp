#include "features/reduce/replay.h"

#include "features/reduce/candidate.h"
#include "features/reduce/finding.h"

#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <ios>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

#include "assay/artifact/job_requests.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {
namespace {

constexpr auto* kReplaySchema = "assay/reduce_replay/1";

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// A file that is empty, or whose first line was at least begun as that of a replay file.
bool is_begun_replay(std::string_view content) {
  const auto head = fmt::format(R"({{"schema":"{}")", kReplaySchema);
  return content.starts_with(head) || std::string_view(head).starts_with(content);
}

}  // namespace

Result<ReduceReplay> ReduceReplay::open(const std::filesystem::path& path,
                                        const std::string& subject) {
  ReduceReplay replay;
  replay.path_ = path;
  std::error_code error;
  std::string content;
  if (std::filesystem::exists(path, error)) {
    ASSAY_ASSIGN_OR_RETURN(content, read_file(path));
  }
  if (!is_begun_replay(content)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not a replay file; name another", path.string()));
  }
  const auto whole = content.rfind('\n') + 1;  // npos + 1 is 0: no line is whole.
  content.resize(whole);
  if (!content.empty()) {
    ASSAY_RETURN_IF_ERROR(replay.read(content, subject));
    std::filesystem::resize_file(path, whole, error);
  }
  replay.file_.open(path, content.empty() ? std::ios::trunc : std::ios::app);
  if (!replay.file_ || error) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("cannot write the replay file '{}'", path.string()));
  }
  if (content.empty()) {
    ASSAY_RETURN_IF_ERROR(
        replay.write_line(text_of({{"schema", kReplaySchema}, {"subject", subject}})));
  }
  return replay;
}

Status ReduceReplay::read(const std::string& content, const std::string& subject) {
  std::istringstream lines(content);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto where = fmt::format("'{}', line {}", path_.string(), ++number);
    auto parsed = parse_json(line, where);
    if (!parsed || !parsed->is_object()) {
      return fail(ErrorCode::kCorrupt, where + " is not a line of a replay file; remove the file");
    }
    if (number == 1) {
      if (parsed->value("subject", "") != subject) {
        return fail(ErrorCode::kInvalidArgument,
                    fmt::format("'{}' belongs to another case, recipe, engine, toolchain or check; "
                                "name another file or remove it",
                                path_.string()));
      }
      continue;
    }
    try {
      known_[parsed->at("candidate").get<std::string>()] =
          parsed->at("finding").get<ReduceFinding>();
    } catch (const std::exception& problem) {
      return fail(ErrorCode::kCorrupt, fmt::format("{}: {}", where, problem.what()));
    }
  }
  return {};
}

std::optional<ReduceFinding> ReduceReplay::find(const ReduceCandidate& candidate) const {
  const auto found = known_.find(digest_of(candidate));
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

Status ReduceReplay::add(const ReduceCandidate& candidate, const ReduceFinding& finding) {
  const auto digest = digest_of(candidate);
  known_[digest] = finding;
  return path_.empty() ? Status()
                       : write_line(text_of({{"candidate", digest},
                                             {"finding", finding},
                                             {"model", model_request(candidate.model)}}));
}

Status ReduceReplay::write_line(const std::string& line) {
  file_ << line << '\n' << std::flush;
  return file_ ? Status()
               : fail(ErrorCode::kUnavailable,
                      fmt::format("cannot write the replay file '{}'; is the disk full?",
                                  path_.string()));
}

}  // namespace assay
