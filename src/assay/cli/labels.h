#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay::cli {

using Labels = std::map<std::string, std::string>;

/// "commit=abc" as a label with its value. `source` stands before the error: "--label".
/// Errors: kInvalidArgument.
Result<Labels> labels_from_texts(std::span<const std::string> texts, std::string_view source);

/// Likewise for a filter: "commit" alone is a label with any value, which is the empty one.
Result<Labels> label_filter_from_texts(std::span<const std::string> texts);

/// Adds the configured name of this machine as label "device", unless that is given.
void add_configured_device(Labels& labels);

}  // namespace assay::cli
