#include "features/watch/operator_files.h"

#include "features/repository/path_filter.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"

namespace assay::watch {
namespace {

constexpr std::size_t kLeastLetters = 3;
/// Share from which on an operator counts as slow.
constexpr double kSlowShare = 0.2;

std::string plain(std::string_view text) {
  std::string letters;
  for (const unsigned char one : text) {
    if (std::isalnum(one) != 0) {
      letters += static_cast<char>(std::tolower(one));
    }
  }
  return letters;
}

/// "conv2d" of "aten::conv2d", "conv" of "features/conv".
std::string last_word(const std::string& name) {
  const auto end = name.find_last_of(":/.");
  return plain(end == std::string::npos ? name : name.substr(end + 1));
}

bool has_part_with(const std::string& file, const std::string& word) {
  const std::filesystem::path path(file);
  return std::ranges::any_of(
      path, [&word](const auto& part) { return plain(part.string()).contains(word); });
}

bool belongs_to(const std::string& file, const std::string& numbered, const PathFilter& paths) {
  const auto name = numbered.substr(0, numbered.find(" #"));
  bool is_listed = false;
  for (const auto& [pattern, files] : paths.operators) {
    if (is_named_by(name, pattern)) {
      is_listed = true;
      if (std::ranges::any_of(files, [&](const auto& one) { return is_named_by(file, one); })) {
        return true;
      }
    }
  }
  const auto word = last_word(name);
  return !is_listed && word.size() >= kLeastLetters && has_part_with(file, word);
}

/// The part of an operator's change that has the direction of `change`.
double part_in_direction(const Json& row, double change) {
  const auto found = row.find("change_ns");
  const double part = found != row.end() && found->is_number()
                          ? std::copysign(1.0, change) * found->get<double>()
                          : 0;
  return std::max(part, 0.0);
}

}  // namespace

std::vector<std::string> operators_that_changed(const Json& operators, double change) {
  double whole = 0;
  for (const auto& row : operators) {
    whole += part_in_direction(row, change);
  }
  std::vector<std::string> names;
  for (const auto& row : operators) {
    if (whole > 0 && part_in_direction(row, change) >= kSlowShare * whole) {
      names.push_back(row.value("name", ""));
    }
  }
  return names;
}

bool names_operator(const std::vector<std::string>& files,
                    const std::vector<std::string>& operators, const PathFilter& paths) {
  return std::ranges::any_of(files, [&](const std::string& file) {
    return std::ranges::any_of(
        operators, [&](const std::string& name) { return belongs_to(file, name, paths); });
  });
}

}  // namespace assay::watch
