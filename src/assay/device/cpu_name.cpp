#include "assay/device/cpu_name.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/device/text_fields.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, 3> kMarks = {"(r)", "(tm)", "(c)"};
constexpr std::array<std::string_view, 3> kTails = {" @", " w/", " with "};
constexpr std::array<std::string_view, 3> kNoise = {"cpu", "processor", "gen"};

constexpr std::array<std::pair<std::string_view, std::string_view>, 18> kArmParts = {{
    {"0xd03", "Cortex-A53"},
    {"0xd05", "Cortex-A55"},
    {"0xd07", "Cortex-A57"},
    {"0xd08", "Cortex-A72"},
    {"0xd0a", "Cortex-A75"},
    {"0xd0b", "Cortex-A76"},
    {"0xd0c", "Neoverse-N1"},
    {"0xd0d", "Cortex-A77"},
    {"0xd40", "Neoverse-V1"},
    {"0xd41", "Cortex-A78"},
    {"0xd44", "Cortex-X1"},
    {"0xd46", "Cortex-A510"},
    {"0xd47", "Cortex-A710"},
    {"0xd48", "Cortex-X2"},
    {"0xd49", "Neoverse-N2"},
    {"0xd4f", "Neoverse-V2"},
    {"0xd80", "Cortex-A520"},
    {"0xd81", "Cortex-A720"},
}};

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '+' || c == '_' ||
         c == '-';
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (is_name_character(c)) {
      words.back().push_back(c);
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

/// "12th", "64-core": the rest of the name says it already.
bool is_noise(std::string_view word) {
  const bool is_ordinal = word.size() > 2 && word.front() >= '0' && word.front() <= '9' &&
                          (word.ends_with("th") || word.ends_with("st") || word.ends_with("nd") ||
                           word.ends_with("rd"));
  return word.empty() || is_ordinal || word.ends_with("-core") ||
         std::ranges::find(kNoise, word) != kNoise.end();
}

}  // namespace

std::string normalised_cpu_name(std::string_view model) {
  auto name = lower_case(std::string(model));
  for (const auto mark : kMarks) {
    for (auto at = name.find(mark); at != std::string::npos; at = name.find(mark)) {
      std::fill_n(name.begin() + static_cast<std::ptrdiff_t>(at), mark.size(), ' ');
    }
  }
  for (const auto tail : kTails) {
    name.resize(std::min(name.find(tail), name.size()));
  }
  // The types of several cores: "4x a + 4x b".
  for (auto at = name.find(" + "); at != std::string::npos; at = name.find(" + ")) {
    name.replace(at, 3, "+");
  }
  auto words = words_of(name);
  std::erase_if(words, is_noise);
  return words.empty() ? "unknown" : fmt::format("{}", fmt::join(words, "-"));
}

std::string cpu_model_from_cpuinfo(std::string_view cpuinfo) {
  if (const auto model = find_field(cpuinfo, "model name")) {
    return std::string(*model);
  }
  return cpu_part_from_cpuinfo(cpuinfo);
}

std::string cpu_part_from_cpuinfo(std::string_view cpuinfo) {
  const auto implementer = find_field(cpuinfo, "CPU implementer");
  const auto part = find_field(cpuinfo, "CPU part");
  if (!implementer || !part) {
    return {};
  }
  const auto* known =
      std::ranges::find(kArmParts, *part, [](const auto& entry) { return entry.first; });
  if (*implementer == "0x41" && known != kArmParts.end()) {
    return fmt::format("ARM {}", known->second);
  }
  return fmt::format("arm {} {}", *implementer, *part);
}

std::string cpu_part_from_compatible(std::string_view compatible) {
  constexpr std::string_view kVendor = "arm,";
  if (!compatible.starts_with(kVendor)) {
    return {};
  }
  const auto name = compatible.substr(kVendor.size());
  const auto* known = std::ranges::find_if(kArmParts, [name](const auto& entry) {
    return lower_case(std::string(entry.second)) == name;
  });
  return known == kArmParts.end() ? "" : fmt::format("ARM {}", known->second);
}

}  // namespace assay
