#include "assay/cli/labels.h"

#include <fmt/format.h>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/result.h"
#include "assay/cli/configured.h"

namespace assay::cli {

Result<Labels> labels_from_texts(std::span<const std::string> texts, std::string_view source) {
  Labels labels;
  for (const auto& text : texts) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fail(ErrorCode::kInvalidArgument, fmt::format("{} {}: write key=value", source, text));
    }
    labels[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return labels;
}

Result<Labels> label_filter_from_texts(std::span<const std::string> texts) {
  Labels labels;
  for (const auto& text : texts) {
    const auto equals = text.find('=');
    if (equals == 0 || text.empty()) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("--label {}: write key, or key=value", text));
    }
    labels[text.substr(0, equals)] = equals == std::string::npos ? "" : text.substr(equals + 1);
  }
  return labels;
}

void add_configured_device(Labels& labels) {
  if (auto name = configuration().text("device_name"); !name.empty()) {
    labels.emplace("device", std::move(name));
  }
}

}  // namespace assay::cli
