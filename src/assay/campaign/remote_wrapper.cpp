#include "assay/campaign/remote_wrapper.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/base/text.h"
#include "assay/base/uuid.h"
#include "assay/campaign/launch.h"
#include "assay/record/spawn.h"
#include "assay/supervise/agent_client.h"

namespace assay {
namespace {

constexpr std::int64_t kShellNs = 60'000'000'000;

/// Output of a command there; its words are "$1", "$2", …
Result<std::string> run_shell(AgentClient& agent, const std::string& command,
                              const std::vector<std::string>& words) {
  std::vector<std::string> argv = {"/bin/sh", "-c", command, "sh"};
  argv.insert(argv.end(), words.begin(), words.end());
  ASSAY_ASSIGN_OR_RETURN(const auto result,
                         agent.spawn({.argv = std::move(argv), .limits = {.wall_ns = kShellNs}}));
  if (result.end.exit_code != 0) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("device '{}': '{}' ended with {}: {}", agent.device(), command,
                            result.end.exit_code, printable(result.end.last_words)));
  }
  return std::string(reinterpret_cast<const char*>(result.output.data()), result.output.size());
}

/// Takes "NAME BYTES\n" and as many bytes from the front of the text.
Result<std::pair<std::string, std::string_view>> take_file(std::string_view& text) {
  const auto line = text.substr(0, text.find('\n'));
  const auto space = line.rfind(' ');
  std::size_t bytes = 0;
  const auto digits = line.substr(std::min(space + 1, line.size()));
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), bytes);
  const std::string name(line.substr(0, space));
  const bool is_name = space != std::string_view::npos && !name.empty() &&
                       name.find('/') == std::string::npos && !name.starts_with('.');
  if (read.ec != std::errc() || !is_name || text.size() < line.size() + 1 + bytes) {
    return fail(ErrorCode::kCorrupt, "the files of the wrapper did not arrive whole; try again");
  }
  const auto content = text.substr(line.size() + 1, bytes);
  text.remove_prefix(line.size() + 1 + bytes);
  return std::pair(name, content);
}

std::string with_replaced(std::string text, std::string_view what, std::string_view by) {
  if (const auto at = text.find(what); at != std::string::npos) {
    text.replace(at, what.size(), by);
  }
  return text;
}

}  // namespace

Result<RemoteWrapper> RemoteWrapper::place(AgentClient& agent, const LaunchRequest& request) {
  ASSAY_CHECK(!request.writable.empty());
  const auto name = std::filesystem::path(request.prefix.front()).filename().string();
  const auto found = run_shell(agent, "command -v \"$1\"", {name});
  if (!found) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{} is not on device '{}'; install it there (Debian, Ubuntu: apt "
                            "install {}), or leave it out",
                            name, agent.device(), name));
  }
  auto folder = fmt::format("{}/tmp/wrapped-{}", agent.hello().home, make_uuid7());
  if (const auto made = run_shell(agent, "mkdir -p \"$1\"", {folder}); !made) {
    return std::unexpected(made.error());
  }
  std::vector<std::string> argv = {found->substr(0, found->find('\n'))};
  for (std::size_t i = 1; i < request.prefix.size(); ++i) {
    argv.push_back(with_replaced(request.prefix[i], request.writable.front(), folder));
  }
  return RemoteWrapper(std::move(argv), std::move(folder));
}

Status RemoteWrapper::fetch(AgentClient& agent, const std::filesystem::path& into) const {
  ASSAY_ASSIGN_OR_RETURN(
      const auto text,
      run_shell(
          agent,
          "cd \"$1\" && for f in *; do if [ -f \"$f\" ]; then echo \"$f $(($(wc -c <\"$f\")))\"; "
          "cat \"$f\"; fi; done; cd / && rm -rf \"$1\"",
          {folder_}));
  std::string_view left = text;
  while (!left.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const auto file, take_file(left));
    ASSAY_RETURN_IF_ERROR(write_file_atomically(into / file.first, file.second));
  }
  return {};
}

}  // namespace assay
