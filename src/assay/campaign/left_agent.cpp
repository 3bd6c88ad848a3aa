#include "assay/campaign/left_agent.h"

#include <cstddef>
#include <regex>
#include <string>

#include "assay/device/process_space.h"

namespace assay {

bool is_holder_gone(const std::string& holder) {
  static const std::regex form(R"(process (\d{1,9}) on .* \(([0-9a-f]{12})\).*)");
  // A device's text may have any length, for which the library would recurse.
  constexpr std::size_t kLongest = 2000;
  std::smatch parts;
  return holder.size() <= kLongest && std::regex_match(holder, parts, form) &&
         parts[2] == process_space() && !is_process_alive(std::stoi(parts[1]));
}

}  // namespace assay
