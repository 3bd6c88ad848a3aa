#include "assay/record/model_names.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "assay/record/case.h"

namespace assay {
namespace {

/// The folder part of the last `folders` folders: "b/" of "/a/b/net.pte"; all of it where there
/// are no more.
std::string_view last_folders(std::string_view ref, std::size_t folders) {
  const auto slash = ref.rfind('/');
  if (slash == std::string_view::npos || folders == 0) {
    return {};
  }
  auto begin = slash;
  for (; folders > 0 && begin != std::string_view::npos; --folders) {
    begin = begin == 0 ? std::string_view::npos : ref.rfind('/', begin - 1);
  }
  const auto first = begin == std::string_view::npos ? 0 : begin + 1;
  return ref.substr(first, slash + 1 - first);
}

std::size_t count_folders(std::string_view ref) {
  std::size_t count = 0;
  for (const char c : ref) {
    count += c == '/' ? 1 : 0;
  }
  return count;
}

/// Name of the reference with so many of its folders, with or without its ending.
std::string candidate_name(const std::string& ref, std::size_t folders, bool has_ending) {
  const auto slash = ref.rfind('/');
  const auto last = slash == std::string::npos ? ref : ref.substr(slash + 1);
  return std::string(last_folders(ref, folders)) +
         (has_ending ? last : short_name_of({.ref = ref}));
}

/// Exporters call every file "program" or "model", and a list of tests counts its own.
bool needs_folder(const std::string& ref) {
  const auto file = ref.substr(ref.rfind('/') + 1);
  const auto stem = file.substr(0, file.find('.'));
  const bool is_number = !stem.empty() && stem.find_first_not_of("0123456789") == std::string::npos;
  return ref != file && file != stem && (stem == "program" || stem == "model" || is_number) &&
         file.find(':') == std::string::npos;
}

bool are_different(const std::map<std::string, std::string>& names) {
  std::set<std::string_view> seen;
  for (const auto& [ref, name] : names) {
    if (!seen.insert(name).second) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::map<std::string, std::string> telling_names(std::span<const std::string> refs) {
  std::set<std::string> open(refs.begin(), refs.end());
  std::size_t most = 0;
  for (const auto& ref : open) {
    most = std::max(most, count_folders(ref));
  }
  std::map<std::string, std::string> names;
  // An open reference is compared with those that are named already, too.
  const std::set<std::string> all = open;
  for (std::size_t folders = 0; folders <= most && !open.empty(); ++folders) {
    for (const bool has_ending : {false, true}) {
      std::map<std::string, int> counts;
      for (const auto& ref : all) {
        ++counts[candidate_name(ref, folders, has_ending)];
      }
      std::erase_if(open, [&](const std::string& ref) {
        auto name = candidate_name(ref, folders, has_ending);
        const bool is_telling = counts[name] == 1 && (folders > 0 || !needs_folder(ref));
        return is_telling && names.emplace(ref, std::move(name)).second;
      });
    }
  }
  for (const auto& ref : open) {
    names.emplace(ref, ref);
  }
  if (!are_different(names)) {
    for (auto& [ref, name] : names) {
      name = ref;
    }
  }
  return names;
}

}  // namespace assay
