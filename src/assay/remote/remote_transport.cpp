#include "assay/remote/remote_transport.h"

#include <chrono>
#include <cstddef>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/base/shell.h"
#include "assay/device/agent_process.h"
#include "assay/remote/address.h"
#include "assay/remote/device_programs.h"

namespace assay {
namespace {

constexpr std::chrono::seconds kAnswer{30};
constexpr std::chrono::minutes kPush{10};
/// The files of an agent below its home.
constexpr const char* kFoldersOfAgent = "blobs trees claims locks tmp home";
constexpr std::size_t kDigitsOfName = 16;

/// The folder as an expression of the shell there.
std::string folder_expression(const RemoteTransport::Options& options) {
  if (!options.folder.empty()) {
    return shell_word(options.folder);
  }
  return options.address.reach == Reach::kAdb ? "/data/local/tmp/assay"
                                              : R"("${XDG_CACHE_HOME:-$HOME/.cache}/assay-agent")";
}

/// "key=value" lines.
std::multimap<std::string, std::string> fields_from_lines(const std::string& text) {
  std::multimap<std::string, std::string> fields;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) {
      line.pop_back();
    }
    const auto equals = line.find('=');
    if (equals != std::string::npos) {
      fields.emplace(line.substr(0, equals), line.substr(equals + 1));
    }
  }
  return fields;
}

}  // namespace

Result<DeviceFacts> RemoteTransport::ask_facts() const {
  const auto command = fmt::format(
      "d={}; mkdir -p \"$d\" && cd \"$d\" || exit 1; echo \"assay_machine=$(uname -m)\"; "
      "echo \"assay_folder=$(pwd)\"; for a in assay-agent-*; do if [ -x \"$a\" ]; then echo "
      "\"assay_agent=$a\"; fi; done",
      folder_expression(options_));
  ASSAY_ASSIGN_OR_RETURN(const auto answer, shell_.run(command, "", kAnswer));
  const auto fields = fields_from_lines(answer);
  const auto machine = fields.find("assay_machine");
  const auto folder = fields.find("assay_folder");
  if (machine == fields.end() || folder == fields.end() || !folder->second.starts_with('/')) {
    // adb ends with 0 when a device goes away.
    return fail(ErrorCode::kUnavailable,
                fmt::format("device '{}' went away, or has no usual shell: it answered '{}'",
                            describe(), answer.substr(0, 200)));
  }
  DeviceFacts facts{.machine = machine->second, .folder = folder->second};
  for (auto [agent, last] = fields.equal_range("assay_agent"); agent != last; ++agent) {
    facts.agents.insert(agent->second);
  }
  return facts;
}

std::vector<std::string> RemoteTransport::argv_of(const std::vector<std::string>& words) const {
  return shell_.argv_for("exec " + shell_command(words));
}

Status RemoteTransport::clear() const {
  // Only what is Assay's: the folder may be one that the user has other files in.
  const auto command = fmt::format(
      "d={}; [ -d \"$d\" ] || exit 0; cd \"$d\" || exit 1; if [ -f settings ]; then for a in "
      "assay-agent-*; do ASSAY_AGENT_HOME=\"$d\" \"./$a\" --restore && break; done; fi; rm -rf {} "
      "assay-agent-* && cd / && rmdir \"$d\" 2>/dev/null || true",
      folder_expression(options_), kFoldersOfAgent);
  const auto answer = shell_.run(command, "", kPush);
  return answer ? Status() : std::unexpected(answer.error());
}

Status RemoteTransport::push_agent(const std::filesystem::path& agent,
                                   const std::string& target) const {
  ASSAY_ASSIGN_OR_RETURN(const auto content, read_file(agent));
  const auto path = shell_word(target);
  const auto command = fmt::format(
      "t={0}.$$; cat >\"$t\" && chmod 755 \"$t\" && \"$t\" --version >/dev/null && mv \"$t\" {0} "
      "&& echo \"assay_bytes=$(wc -c "
      "<{0} | tr -d ' ')\" || {{ rm -f \"$t\"; exit 1; }}",
      path);
  ASSAY_ASSIGN_OR_RETURN(const auto answer, shell_.run(command, content, kPush));
  const auto fields = fields_from_lines(answer);
  const auto bytes = fields.find("assay_bytes");
  if (bytes == fields.end() || bytes->second != std::to_string(content.size())) {
    [[maybe_unused]] const auto removed = shell_.run(fmt::format("rm -f {}", path), "", kAnswer);
    return fail(ErrorCode::kCorrupt,
                fmt::format("device '{}': the agent did not arrive whole; try again", describe()));
  }
  return {};
}

Result<AgentProcess> RemoteTransport::start_agent() {
  ASSAY_ASSIGN_OR_RETURN(const auto facts, ask_facts());
  ASSAY_ASSIGN_OR_RETURN(const auto agent,
                         find_device_program(triple_of_machine(facts.machine), "assay-agent"));
  ASSAY_ASSIGN_OR_RETURN(const auto digest, sha256_hex_of_file(agent));
  const auto name = "assay-agent-" + digest.substr(0, kDigitsOfName);
  const auto target = facts.folder + "/" + name;
  if (!facts.agents.contains(name)) {
    ASSAY_RETURN_IF_ERROR(push_agent(agent, target));
  }
  return AgentProcess::start(shell_.argv_for(
      fmt::format("ASSAY_AGENT_HOME={} exec {}", shell_word(facts.folder), shell_word(target))));
}

}  // namespace assay
