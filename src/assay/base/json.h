#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay {

using Json = nlohmann::json;

/// Lists and objects inside of each other beyond this are refused: printing and copying JSON
/// recurse.
inline constexpr int kMaxJsonDepth = 64;

/// The largest JSON file that is read.
inline constexpr std::size_t kMaxJsonFileBytes = std::size_t{64} << 20;

enum class JsonComments : bool { kRefused, kAllowed };

/// Parses JSON; every text that Assay did not make itself goes through here. // and /* */ comments
/// are allowed unless refused. `origin` (a file name) opens the message. A key that an object has
/// twice is an error.
/// Errors: kInvalidArgument with the line; nothing is thrown.
Result<Json> parse_json(std::string_view text, std::string_view origin,
                        JsonComments comments = JsonComments::kAllowed);

/// Reads and parses a file of at most kMaxJsonFileBytes. Errors: kNotFound, kInvalidArgument.
Result<Json> read_json_file(const std::filesystem::path& path);

/// The form that is digested: keys sorted, no space, ASCII only, numbers as nlohmann prints them.
std::string canonical_json(const Json& value);

/// A string as it is, without quotes; anything else as JSON.
std::string unquoted_text(const Json& value);

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
