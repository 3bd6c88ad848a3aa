#include "assay/spec/model_name.h"

#include "spec_data.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/spec/program_format.h"

namespace assay {
namespace {

constexpr std::string_view kTorchvision = "torchvision";

struct TorchvisionCatalog {
  std::string version;
  std::vector<std::string> names;  ///< Empty if built without the Python package's data.
};

const TorchvisionCatalog& torchvision_catalog() {
  static const TorchvisionCatalog catalog = [] {
    const auto text = spec_data("torchvision.json");
    if (text.empty()) {
      return TorchvisionCatalog();
    }
    const auto document = parse_json(text, "torchvision.json");
    ASSAY_CHECK(document.has_value());
    return TorchvisionCatalog{.version = document->at("version"), .names = document->at("models")};
  }();
  return catalog;
}

std::string complaint_about_library(const std::string& library) {
  static const std::vector<std::string> libraries = {"torchvision", "aten", "conform", "piece",
                                                     "file"};
  // A plug-in may bring a library of any other name.
  const auto nearest = find_nearest_name(library, libraries);
  return nearest.empty() || nearest == library
             ? ""
             : fmt::format("unknown library of models '{}'; did you mean '{}'?", library, nearest);
}

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool has_word(std::string_view text, std::string_view word) {
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    const bool begins = at == 0 || !is_name_character(text[at - 1]);
    if (begins && (end == text.size() || !is_name_character(text[end]))) {
      return true;
    }
  }
  return false;
}

bool makes_names_as_it_runs(std::string_view source) {
  constexpr auto kWays = std::to_array<std::string_view>(
      {"import *", "globals(", "vars(", "setattr(", "exec(", "__getattr__", "__dict__"});
  return std::ranges::any_of(
      kWays, [source](std::string_view way) { return source.find(way) != std::string_view::npos; });
}

/// Names at the left margin: functions before classes, which may need arguments, and private ones
/// last.
std::vector<std::string> definitions_in(const std::string& source) {
  std::vector<std::string> names;
  std::vector<std::string> private_names;
  for (const std::string_view keyword : {"def ", "class "}) {
    std::istringstream lines(source);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(keyword)) {
        const auto begin = line.begin() + static_cast<std::ptrdiff_t>(keyword.size());
        const std::string name(begin, std::find_if_not(begin, line.end(), is_name_character));
        (name.starts_with('_') ? private_names : names).push_back(name);
      }
    }
  }
  names.insert(names.end(), private_names.begin(), private_names.end());
  return names;
}

}  // namespace

std::string complaint_about_model_name(std::string_view ref) {
  const auto colon = ref.find(':');
  const std::string library(ref.substr(0, colon));
  if (library != kTorchvision) {
    return complaint_about_library(library);
  }
  const std::string name(ref.substr(colon + 1));
  const auto& [version, names] = torchvision_catalog();
  if (names.empty() || std::ranges::find(names, name) != names.end()) {
    return "";
  }
  return fmt::format("torchvision {} has no classification network '{}'{}", version, name,
                     suggestion_for(name, names));
}

std::vector<std::string> factories_in(const std::string& file) {
  const auto source = read_file(file);
  auto names = source ? definitions_in(*source) : std::vector<std::string>();
  std::erase_if(names, [](const std::string& name) { return name.starts_with('_'); });
  return names;
}

Status check_factory(const std::string& reference, std::string_view where) {
  const auto file = find_model_file(reference);
  if (!file || !file->ends_with(".py")) {
    return {};
  }
  const auto name = std::filesystem::path(*file).filename().string();
  ASSAY_ASSIGN_OR_RETURN(const auto source, read_file(*file));
  const auto definitions = definitions_in(source);
  if (reference.size() <= file->size() + 1) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: name the function that makes the model: {}:{}", where, name,
                            definitions.empty() ? "FACTORY" : definitions.front()));
  }
  const auto factory = reference.substr(file->size() + 1);
  if (has_word(source, factory) || makes_names_as_it_runs(source)) {
    return {};
  }
  return fail(ErrorCode::kNotFound, fmt::format("{}: {} defines no '{}'{}", where, name, factory,
                                                suggestion_for(factory, definitions)));
}

}  // namespace assay
