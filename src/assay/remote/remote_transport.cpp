#include "assay/remote/remote_transport.h"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/base/shell.h"
#include "assay/base/text.h"
#include "assay/device/agent_process.h"
#include "assay/remote/address.h"
#include "assay/remote/device_programs.h"

namespace assay {
namespace {

constexpr std::chrono::seconds kAnswer{30};
constexpr std::chrono::minutes kPush{10};
constexpr std::size_t kDigitsOfName = 16;

/// The agent's folder as an expression of the shell there. Each user has one of its own: adbd is
/// root for a while after `adb root`, and the shell user again after a reboot.
std::string folder_expression(const RemoteTransport::Options& options) {
  if (!options.folder.empty()) {
    return shell_word(options.folder) + "/assay-agent-$(id -u)";
  }
  return options.address.reach == Reach::kAdb ? "/data/local/tmp/assay-$(id -u)"
                                              : R"("${XDG_CACHE_HOME:-$HOME/.cache}/assay-agent")";
}

/// A line that the shell prints by itself when it starts; empty: there is none.
std::string foreign_line(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line != "\r" && !line.starts_with("assay_")) {
      return printable(line);
    }
  }
  return {};
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
      "\"assay_agent=$a $(($(wc -c <\"$a\")))\"; fi; done",
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
  if (const auto line = foreign_line(answer); !line.empty()) {
    return fail(
        ErrorCode::kUnsupported,
        fmt::format("device '{}': its shell prints '{}' when it starts, and what it prints "
                    "would be mixed with the agent's answers; let ~/.bashrc, ~/.profile and "
                    "the like print only where the shell is interactive",
                    describe(), line.substr(0, 200)));
  }
  DeviceFacts facts{.machine = machine->second, .folder = folder->second};
  for (auto [agent, last] = fields.equal_range("assay_agent"); agent != last; ++agent) {
    const auto space = agent->second.rfind(' ');
    facts.agents.emplace(agent->second.substr(0, space), agent->second.substr(space + 1));
  }
  return facts;
}

std::vector<std::string> RemoteTransport::argv_of(const std::vector<std::string>& words) const {
  return shell_.argv_for("exec " + shell_command(words));
}

Status RemoteTransport::status_of_clearing(const std::string& answer) const {
  const auto fields = fields_from_lines(answer);
  const auto failed = fields.find("assay_failed");
  return failed == fields.end()
             ? Status()
             : fail(ErrorCode::kUnavailable,
                    fmt::format("device '{}': {}", describe(), printable(failed->second)));
}

Status RemoteTransport::clear_by_own_agent() const {
  const auto patience = std::to_string(options_.clear_patience.count());
  const auto clear = [&]() -> Result<std::string> {
    ASSAY_ASSIGN_OR_RETURN(const auto target, bring_agent());
    return shell_.run(fmt::format("ASSAY_AGENT_HOME={} {} --clear {}",
                                  shell_word(std::filesystem::path(target).parent_path().string()),
                                  shell_word(target), patience),
                      "", kPush);
  };
  const auto answer = clear();
  return answer ? status_of_clearing(*answer)
                : fail_with_context(
                      answer.error(),
                      fmt::format("device '{}' has only agents that cannot tell whether somebody "
                                  "uses it, and this version's cannot be sent; end what runs there "
                                  "and remove Assay's folder by hand",
                                  describe()));
}

Status RemoteTransport::clear() const {
  // An agent does it, which can lock the device. Where there is none, none can have it either. Only
  // what is Assay's goes: the folder may be one that the user has other files in.
  const auto command = fmt::format(
      "d={}; [ -d \"$d\" ] || exit 0; cd \"$d\" || exit 1; d=$(pwd); o=; for a in assay-agent-*; "
      "do "
      "if [ -s \"$a\" ]; then if ASSAY_AGENT_HOME=\"$d\" \"./$a\" --clear {} 2>/dev/null; then "
      "exit "
      "0; fi; o=1; fi; done; if [ -n \"$o\" ]; then echo assay_cannot=1; exit 0; fi; w=$(rm -rf "
      "blobs "
      "trees claims tmp home locks assay-agent-* 2>&1) || echo \"assay_failed=$w\"; cd /; rmdir "
      "\"$d\" 2>/dev/null; exit 0",
      folder_expression(options_), options_.clear_patience.count());
  ASSAY_ASSIGN_OR_RETURN(const auto answer, shell_.run(command, "", kPush));
  return fields_from_lines(answer).contains("assay_cannot") ? clear_by_own_agent()
                                                            : status_of_clearing(answer);
}

Status RemoteTransport::push_agent(const std::filesystem::path& agent,
                                   const std::string& target) const {
  ASSAY_ASSIGN_OR_RETURN(const auto content, read_file(agent));
  const auto path = shell_word(target);
  // The file is on the disk before it has its name: a device that loses its power keeps the name of
  // an empty file.
  const auto command = fmt::format(
      "t={0}.$$; cat >\"$t\" && chmod 755 \"$t\" && \"$t\" --version >/dev/null && {{ sync \"$t\" "
      "2>/dev/null || sync; }} && mv \"$t\" {0} && echo \"assay_bytes=$(wc -c "
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

Result<std::string> RemoteTransport::bring_agent() const {
  ASSAY_ASSIGN_OR_RETURN(const auto facts, ask_facts());
  ASSAY_ASSIGN_OR_RETURN(const auto agent,
                         find_device_program(triple_of_machine(facts.machine), "assay-agent"));
  ASSAY_ASSIGN_OR_RETURN(const auto digest, sha256_hex_of_file(agent));
  const auto name = "assay-agent-" + digest.substr(0, kDigitsOfName);
  auto target = facts.folder + "/" + name;
  std::error_code error;
  const auto bytes = std::filesystem::file_size(agent, error);
  const auto there = facts.agents.find(name);
  if (error || there == facts.agents.end() || there->second != std::to_string(bytes)) {
    ASSAY_RETURN_IF_ERROR(push_agent(agent, target));
  }
  return target;
}

Result<AgentProcess> RemoteTransport::start_agent() {
  ASSAY_ASSIGN_OR_RETURN(const auto target, bring_agent());
  const auto folder = std::filesystem::path(target).parent_path().string();
  // Agents that were not started for long are removed.
  return AgentProcess::start(
      shell_.argv_for(fmt::format("touch {1} 2>/dev/null; ASSAY_AGENT_HOME={0} exec {1}",
                                  shell_word(folder), shell_word(target))));
}

}  // namespace assay
