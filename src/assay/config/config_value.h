#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/config/config_key.h"

namespace assay {

/// Checks form and range of a value. Errors: kInvalidArgument, naming the form.
Status check_config_value(const ConfigKey& key, const Json& value);

/// Reads a value as it is typed: "4", "10GB", "a,b" for a list. A relative path starts from the
/// current folder. Errors: kInvalidArgument.
Result<Json> config_value_from_text(const ConfigKey& key, const std::string& text);

/// The value with the user's home in place of "~/" in paths.
Json expanded_config_value(const ConfigKey& key, Json value);

/// The value as a user types it; a list has commas.
std::string text_from_config_value(const Json& value);

}  // namespace assay
