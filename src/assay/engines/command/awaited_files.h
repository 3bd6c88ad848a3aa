#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <sys/types.h>

#include "assay/base/result.h"

namespace assay::command {

/// Bytes that are read of what a command writes to one place.
inline constexpr std::size_t kMostReadBytes = std::size_t{64} << 20;

/// Files that a command is to write, looked at before it runs: numbers of an earlier run are none
/// of this one.
class AwaitedFiles {
 public:
  /// Makes files that are there a second older: whoever writes them changes their time, however
  /// coarse the clock of the file system is.
  explicit AwaitedFiles(std::vector<std::string> files);

  /// Reads what the command wrote, each file behind a line's end; of a file that it appended to,
  /// what is new. Errors: kEngine for a file that is as it was; those of read_file().
  [[nodiscard]] Result<std::string> read_written() const;

 private:
  using Identity = std::tuple<dev_t, ino_t>;
  using Change = std::tuple<off_t, std::int64_t, std::int64_t>;  ///< Size and time.

  struct State {
    Identity identity;
    Change change;
    std::string digest;  ///< Empty: too large, or no file with content.
  };

  static std::optional<State> state_of(const std::string& file);
  static State aged(const std::string& file, State state);
  [[nodiscard]] Result<std::string> read_one(std::size_t index) const;

  std::vector<std::string> files_;
  std::vector<std::optional<State>> states_;
};

}  // namespace assay::command
