#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

/// The content of a small system file without white space around it; nullopt when it is not there
/// or cannot be read, which is normal: what a system does not tell is absent.
std::optional<std::string> read_system_text(const std::filesystem::path& path);

/// The value of the first line "key : value", as in /proc/cpuinfo, /proc/meminfo,
/// /proc/self/status. Views `text`.
std::optional<std::string_view> find_field(std::string_view text, std::string_view key);

/// The number that such a value, or any text, starts with.
std::optional<std::int64_t> find_integer_field(std::string_view text, std::string_view key);
std::optional<std::int64_t> leading_integer(std::string_view text);
std::optional<double> leading_double(std::string_view text);

std::string_view trimmed(std::string_view text);

/// The text with ASCII letters in lower case.
std::string lower_case(std::string text);

}  // namespace assay
