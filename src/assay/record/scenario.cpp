#include "assay/record/scenario.h"

#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {
namespace {

constexpr int kMostCores = 1024;

std::optional<int> whole_number(std::string_view text, int least, int most) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole && value >= least && value <= most ? std::optional(value) : std::nullopt;
}

/// "3" or "2-5".
bool add_range(std::string_view text, std::vector<int>& cores) {
  const auto dash = text.find('-');
  const auto first = whole_number(text.substr(0, dash), 0, kMostCores);
  const auto last =
      dash == std::string_view::npos ? first : whole_number(text.substr(dash + 1), 0, kMostCores);
  if (!first || !last || *last < *first) {
    return false;
  }
  for (int core = *first; core <= *last; ++core) {
    cores.push_back(core);
  }
  return true;
}

}  // namespace

Result<std::vector<int>> cores_from_text(const std::string& text) {
  std::vector<int> cores;
  std::string_view rest = text;
  bool is_list = !rest.empty();
  while (is_list && !rest.empty()) {
    const auto comma = rest.find(',');
    is_list = add_range(rest.substr(0, comma), cores);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  if (!is_list) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not a list of processors; write \"own\", \"big\", \"mid\", "
                            "\"little\", \"0\" or \"0,2-3\"",
                            text));
  }
  return cores;
}

Result<Background> background_from_text(const std::string& text) {
  constexpr int kMost = 256;
  const auto colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  const auto count = colon == std::string::npos
                         ? std::nullopt
                         : whole_number(std::string_view(text).substr(colon + 1), 1, kMost);
  if ((kind != "cpu" && kind != "memory") || !count) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format(
            "'{}' is not a background; write kind and number, such as \"cpu:1\" or \"memory:2\"",
            text));
  }
  return Background{.kind = kind, .count = *count};
}

ASSAY_DEFINE_JSON(Scenario, gap_ns, duration_ns, streams, page_cache, cores, background,
                  cool_below_celsius, beside, beside_sha256)

}  // namespace assay
