#include "assay/record/core_names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/run.h"
#include "assay/record/scenario.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, 3> kCoreNames = {"big", "mid", "little"};

}  // namespace

bool is_core_name(std::string_view text) {
  return std::ranges::find(kCoreNames, text) != kCoreNames.end();
}

Result<std::vector<int>> cores_on_machine(const std::string& text, const Environment& environment) {
  if (!is_core_name(text)) {
    return cores_from_text(text);
  }
  const auto clusters = environment.details.find(kCoresDetail);
  const bool has_names = clusters != environment.details.end() && clusters->is_object();
  if (has_names && clusters->contains(text)) {
    return cores_from_text(clusters->at(text).get<std::string>());
  }
  if (!has_names && text == "big") {
    std::vector<int> all(static_cast<std::size_t>(std::max(environment.cpus, 0)));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("the device has no '{}' cores; it has {}", text,
                          has_names ? text_of_detail(environment, kCoresDetail)
                                    : "big ones only, as all are alike"));
}

}  // namespace assay
