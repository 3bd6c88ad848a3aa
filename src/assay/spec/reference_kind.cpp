#include "assay/spec/reference_kind.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/record/case.h"

namespace assay {
namespace {

constexpr std::string_view kEnginePrefix = "engine:";

/// A folder, or a bundle: what is neither a callable nor a file of named tensors.
bool may_hold_outputs(std::string_view file) {
  return !file.empty() && file.find(".py:") == std::string_view::npos && !file.ends_with(".npz") &&
         !file.ends_with(".safetensors");
}

}  // namespace

const std::vector<std::string>& named_reference_kinds() {
  static const std::vector<std::string> kinds = [] {
    std::vector<std::string> names;
    names.reserve(kEnumNames<ReferenceKind>.size() + 1);
    for (const auto& [kind, name] : kEnumNames<ReferenceKind>) {
      names.emplace_back(name);
    }
    names.emplace_back(kFileKind);
    return names;
  }();
  return kinds;
}

ReferenceKind nearest_reference_kind(const Case& cell, bool has_error_bounds) {
  if (!cell.recipe.quantization.is_null()) {
    return ReferenceKind::kQdq;
  }
  return has_error_bounds ? ReferenceKind::kFloat64 : ReferenceKind::kFloat32;
}

bool serves_every_recipe(ReferenceKind kind) { return kind == ReferenceKind::kFloat64; }

bool is_reference_kind(std::string_view kind) {
  const auto& named = named_reference_kinds();
  return std::ranges::find(named, kind) != named.end() || engine_of_kind(kind).has_value();
}

std::optional<std::string> engine_of_kind(std::string_view kind) {
  if (!kind.starts_with(kEnginePrefix)) {
    return std::nullopt;
  }
  const auto engine = kind.substr(kEnginePrefix.size());
  const bool is_named = !engine.empty() && engine.front() != '@' && engine.back() != '@';
  return is_named ? std::optional(std::string(engine)) : std::nullopt;
}

std::string_view without_reference_kind(std::string_view name) {
  // A build may have dots in its name, a metric has none.
  const auto dot = name.rfind('.');
  const bool has_kind = dot != std::string_view::npos && is_reference_kind(name.substr(0, dot));
  return has_kind ? name.substr(dot + 1) : name;
}

bool has_expected_outputs(const Case& cell) {
  return cell.inputs.generator == "file" &&
         has_expected_outputs(cell.inputs.file, cell.expected_file);
}

bool has_expected_outputs(std::string_view input_file, std::string_view expected_file) {
  return !expected_file.empty() || may_hold_outputs(input_file);
}

}  // namespace assay
