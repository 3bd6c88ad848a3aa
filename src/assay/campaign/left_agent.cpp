#include "assay/campaign/left_agent.h"

#include <cstddef>
#include <optional>
#include <regex>
#include <string>

#include "assay/device/process_space.h"

namespace assay {

std::optional<std::string> find_left_agent(const std::string& refusal) {
  static const std::regex refusal_form(
      R"(process (\d{1,9}) on .* \(([0-9a-f]{12})\); .* process (\d{1,9}) \()");
  // A device's text may have any length, for which the library would recurse.
  constexpr std::size_t kLongest = 2000;
  if (refusal.size() > kLongest) {
    return std::nullopt;
  }
  std::smatch parts;
  if (!std::regex_search(refusal, parts, refusal_form) || parts[2] != process_space() ||
      is_process_alive(std::stoi(parts[1]))) {
    return std::nullopt;
  }
  return parts[3].str();
}

}  // namespace assay
