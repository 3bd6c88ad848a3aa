#pragma once

#include "features/reduce/candidate.h"
#include "features/reduce/finding.h"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include "assay/base/result.h"

namespace assay {

/// Results of all candidates so far, by digest: kept in memory and, where a file is named, as
/// a line of JSON each, on disk before the next candidate is begun. So a reducer that dies goes on
/// where it was.
///
/// The first line names schema and subject: what is judged with. A last line that was cut off by a
/// death is dropped.
class ReduceReplay {
 public:
  /// In memory alone.
  ReduceReplay() = default;

  /// Reads the file if there is one, and goes on writing it. `subject`: whatever a verdict
  /// depends on in addition to the candidate: recipe, engine, options, toolchain, check. Errors:
  /// kInvalidArgument (of another subject, or no such file), kCorrupt (a line in the middle),
  /// kUnavailable.
  static Result<ReduceReplay> open(const std::filesystem::path& path, const std::string& subject);

  [[nodiscard]] std::optional<ReduceFinding> find(const ReduceCandidate& candidate) const;

  /// Errors: kUnavailable when it cannot be written.
  Status add(const ReduceCandidate& candidate, const ReduceFinding& finding);

  [[nodiscard]] std::size_t size() const { return known_.size(); }

 private:
  Status read(const std::string& content, const std::string& subject);
  Status write_line(const std::string& line);

  std::filesystem::path path_;
  std::ofstream file_;
  std::map<std::string, ReduceFinding> known_;
};

}  // namespace assay
