#include "assay/supervise/keep_awake.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/subprocess.h"
#include "assay/device/text_fields.h"

namespace assay {
namespace {

constexpr std::chrono::seconds kPatience{10};
/// A number with a bit for each kind of charger. Source: Android, Settings.Global.
constexpr const char* kStayOn = "stay_on_while_plugged_in";

std::optional<std::string> answer_of(const std::vector<std::string>& argv) {
  const auto output = run_command({.argv = argv, .stderr_file = "/dev/null"}, kPatience);
  return output && output->exit_code == 0 ? std::optional<std::string>(trimmed(output->output))
                                          : std::nullopt;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Says "held" as soon as it holds the lock, which ends with its stdin.
std::optional<Subprocess> start_inhibitor() {
  auto inhibitor = Subprocess::start(
      {.argv = {"systemd-inhibit", "--what=idle:sleep", "--who=Assay", "--why=measurement",
                "--mode=block", "sh", "-c", "echo held; exec cat >/dev/null"},
       .stderr_file = "/dev/null"});
  if (!inhibitor) {
    return std::nullopt;
  }
  const auto line = inhibitor->read_line(kPatience);
  const bool is_held = line && *line && **line == "held";
  return is_held ? std::optional(*std::move(inhibitor)) : std::nullopt;
}

}  // namespace

std::string KeptAwake::setting() {
  const auto setting = answer_of({"settings", "get", "global", kStayOn});
  if (!setting) {
    return {};
  }
  return is_number(*setting) ? *setting : "0";  // "null": it was never set.
}

std::optional<KeptAwake> KeptAwake::start() {
  if (answer_of({"svc", "power", "stayon", "true"})) {
    return KeptAwake("svc power stayon", {});
  }
  if (auto inhibitor = start_inhibitor()) {
    return KeptAwake("systemd-inhibit", std::move(inhibitor));
  }
  return std::nullopt;
}

void KeptAwake::restore(const std::string& setting) {
  if (!setting.empty() && !answer_of({"settings", "put", "global", kStayOn, setting})) {
    answer_of({"svc", "power", "stayon", "false"});
  }
}

}  // namespace assay
