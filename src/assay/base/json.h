#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay {

using Json = nlohmann::json;

/// Parses JSON; // and /* */ comments are allowed. `origin` (a file name) opens the message.
/// Errors: kInvalidArgument with line and column.
Result<Json> parse_json(std::string_view text, std::string_view origin);

/// Reads and parses a file. Errors: kNotFound, kInvalidArgument.
Result<Json> read_json_file(const std::filesystem::path& path);

/// The form that is digested: keys sorted, no space, ASCII only, numbers as nlohmann prints them.
std::string canonical_json(const Json& value);

/// SHA-256 of canonical_json(value).
std::string digest_of_json(const Json& value);

}  // namespace assay

/// In a .cpp: defines to_json and from_json of a struct, field by field; a field that is absent
/// keeps its default, a field that is unknown is ignored. The header declares the two functions
/// with ASSAY_DECLARE_JSON(Type). Both stand in the struct's namespace.
#define ASSAY_DECLARE_JSON(Type)                                              \
  void to_json(nlohmann::json& nlohmann_json_j, const Type& nlohmann_json_t); \
  void from_json(const nlohmann::json& nlohmann_json_j, Type& nlohmann_json_t)

#define ASSAY_DEFINE_JSON(Type, ...)                                                        \
  void to_json(nlohmann::json& nlohmann_json_j, const Type& nlohmann_json_t) {              \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_TO, __VA_ARGS__))                \
  }                                                                                         \
  void from_json(const nlohmann::json& nlohmann_json_j, Type& nlohmann_json_t) {            \
    const Type nlohmann_json_default_obj{};                                                 \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_FROM_WITH_DEFAULT, __VA_ARGS__)) \
  }
