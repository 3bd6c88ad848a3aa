#include "assay/engine/engine.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"

namespace assay {
namespace {

bool has_type(const Json& value, std::string_view type) {
  return (type == "int" && value.is_number_integer()) || (type == "bool" && value.is_boolean()) ||
         (type == "string" && value.is_string());
}

bool is_in_range(const Json& number, const OptionSchema& schema) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (number.is_number_unsigned() && number.get<std::uint64_t>() > kMost) {
    return !schema.maximum;
  }
  const auto value = number.get<std::int64_t>();
  return value >= schema.minimum.value_or(value) && value <= schema.maximum.value_or(value);
}

std::string range_text(const OptionSchema& schema) {
  if (schema.minimum && schema.maximum) {
    return fmt::format("{} to {}", *schema.minimum, *schema.maximum);
  }
  return schema.minimum ? fmt::format("at least {}", *schema.minimum)
                        : fmt::format("at most {}", schema.maximum.value_or(0));
}

Status check_option(const Json& value, const OptionSchema& schema) {
  if (!has_type(value, schema.type)) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("option '{}' takes {}, not {}",
                                                         schema.name, schema.type, value.dump()));
  }
  if (!schema.values.empty() && std::ranges::find(schema.values, value) == schema.values.end()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("option '{}' takes one of {}, not {}", schema.name,
                            schema.values.dump(), value.dump()));
  }
  if (value.is_number_integer() && !is_in_range(value, schema)) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("option '{}' takes {}, not {}", schema.name, range_text(schema), value.dump()));
  }
  return {};
}

/// Largest size of an engine's thread pool.
constexpr int kMostThreads = 1024;

}  // namespace

OptionSchema threads_option(std::string description) {
  return {.name = "threads",
          .type = "int",
          .minimum = 1,
          .maximum = kMostThreads,
          .scope = "load",
          .description = std::move(description)};
}

Result<Json> validate_options(const Json& requested, const std::vector<OptionSchema>& schema) {
  Json effective = Json::object();
  std::vector<std::string> names;
  for (const auto& option : schema) {
    names.push_back(option.name);
    if (!option.default_value.is_null()) {
      effective[option.name] = option.default_value;
    }
  }
  for (const auto& [name, value] : requested.items()) {
    const auto found = std::ranges::find(schema, name, &OptionSchema::name);
    if (found == schema.end()) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("unknown option '{}'{}", name, suggestion_for(name, names)));
    }
    ASSAY_RETURN_IF_ERROR(check_option(value, *found));
    effective[name] = value;
  }
  return effective;
}

ASSAY_DEFINE_JSON(OptionSchema, name, type, values, minimum, maximum, default_value, scope,
                  description)
ASSAY_DEFINE_JSON(BackendInfo, name, is_available, reason)
ASSAY_DEFINE_JSON(EngineDescription, name, version, build_id, target, formats, options, backends,
                  tags, notes, depends_on, reads)

}  // namespace assay
