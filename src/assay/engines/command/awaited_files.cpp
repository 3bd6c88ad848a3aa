#include "assay/engines/command/awaited_files.h"

#include <array>
#include <cstddef>
#include <ctime>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"

namespace assay::command {

AwaitedFiles::AwaitedFiles(std::vector<std::string> files) : files_(std::move(files)) {
  for (const auto& file : files_) {
    auto state = state_of(file);
    if (state) {
      state = aged(file, *std::move(state));
    }
    states_.push_back(std::move(state));
  }
}

std::optional<AwaitedFiles::State> AwaitedFiles::state_of(const std::string& file) {
  struct stat found{};
  if (::stat(file.c_str(), &found) != 0) {
    return std::nullopt;
  }
  return State{.identity = {found.st_dev, found.st_ino},
               .change = {found.st_size, found.st_mtim.tv_sec, found.st_mtim.tv_nsec},
               .digest = ""};
}

AwaitedFiles::State AwaitedFiles::aged(const std::string& file, State state) {
  const auto [size, seconds, nanoseconds] = state.change;
  const std::array<struct timespec, 2> times = {
      {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, {.tv_sec = seconds - 1, .tv_nsec = nanoseconds}}};
  ::utimensat(AT_FDCWD, file.c_str(), times.data(), 0);  // Only the owner may.
  state.change = state_of(file).value_or(state).change;
  if (size > 0 && size <= static_cast<off_t>(kMostReadBytes)) {
    state.digest = sha256_hex_of_file(file).value_or("");
  }
  return state;
}

Result<std::string> AwaitedFiles::read_one(std::size_t index) const {
  const auto& file = files_[index];
  const auto& before = states_[index];
  const auto now = state_of(file);
  if (before && now && before->identity == now->identity && before->change == now->change) {
    return fail(ErrorCode::kEngine,
                fmt::format("the command did not write '{}', which is of an earlier run: its "
                            "numbers are not those of this one",
                            file));
  }
  ASSAY_ASSIGN_OR_RETURN(auto content, read_file(file, kMostReadBytes));
  if (before && !before->digest.empty() && now && before->identity == now->identity) {
    const auto old = static_cast<std::size_t>(std::get<0>(before->change));
    const bool is_appended = old < content.size() &&
                             sha256_hex(std::string_view(content).substr(0, old)) == before->digest;
    content.erase(0, is_appended ? old : 0);
  }
  return content;
}

Result<std::string> AwaitedFiles::read_written() const {
  std::string written;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(const auto one, read_one(i));
    written += "\n" + one;
  }
  return written;
}

}  // namespace assay::command
