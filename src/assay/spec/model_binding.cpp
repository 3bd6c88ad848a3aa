#include "assay/spec/model_binding.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/text.h"
#include "assay/record/case.h"
#include "assay/record/model_inputs.h"
#include "assay/record/model_names.h"
#include "assay/spec/file_digest.h"
#include "assay/spec/given_inputs.h"
#include "assay/spec/model_name.h"
#include "assay/spec/program_files.h"
#include "assay/spec/program_format.h"
#include "assay/spec/spec.h"

namespace assay {
namespace {

/// Arguments that the maker of a model gets, its seed among them.
Json arguments_of(const ModelReference& model) {
  auto arguments = model.args;
  arguments["seed"] = model.seed;
  return arguments;
}

/// The arguments that tell a model from others of its reference, each behind a space: " width=2".
/// `alike`: the arguments of each model of the reference.
std::string telling_arguments(const ModelReference& model, const std::vector<Json>& alike) {
  std::string text;
  const auto own = arguments_of(model);
  for (const auto& [key, value] : own.items()) {
    const auto differs = [&](const Json& other) {
      return !other.contains(key) || other.at(key) != value;
    };
    if (std::ranges::any_of(alike, differs)) {
      text += fmt::format(" {}={}", key, unquoted_text(value));
    }
  }
  return text;
}

/// A name in other bytes would be lost on its way: what is measured and stored is text in UTF-8.
Status check_is_text(const std::string& path, const std::string& where) {
  return valid_utf8(path) == path
             ? Status()
             : fail(ErrorCode::kInvalidArgument,
                    fmt::format("{}: the path '{}' is not UTF-8; rename the file, or its folder",
                                where, valid_utf8(path)));
}

class ModelBinder {
 public:
  explicit ModelBinder(const Spec& spec) : spec_(spec) {}

  Status bind_models();
  std::vector<BoundModel> take() { return std::move(models_); }

 private:
  Status bind_model(const SpecModel& entry, std::size_t index);
  void name_models();
  Status bind_file(const std::string& reference, std::size_t index, const char* key,
                   InputSet& inputs) const;

  const Spec& spec_;
  std::vector<BoundModel> models_;
};

Status ModelBinder::bind_models() {
  for (std::size_t i = 0; i < spec_.models.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(bind_model(spec_.models[i], i));
  }
  name_models();
  return {};
}

// Models whose short names are the same get names that tell them apart: by their references, and
// those of one reference by their arguments.
void ModelBinder::name_models() {
  std::vector<std::string> refs;
  refs.reserve(models_.size());
  std::map<std::string, std::vector<Json>> arguments;
  for (const auto& bound : models_) {
    refs.push_back(bound.model.ref);
    arguments[bound.model.ref].push_back(arguments_of(bound.model));
  }
  const auto names = telling_names(refs);
  for (auto& bound : models_) {
    const auto name =
        names.at(bound.model.ref) + telling_arguments(bound.model, arguments.at(bound.model.ref));
    if (name != bound.short_name) {
      bound.model.name = name;
      bound.short_name = name;
    }
  }
}

Status ModelBinder::bind_file(const std::string& reference, std::size_t index, const char* key,
                              InputSet& inputs) const {
  if (reference.empty()) {
    return {};
  }
  const auto where = fmt::format("{}: models[{}].{}", spec_.origin, index, key);
  ASSAY_RETURN_IF_ERROR(check_is_text(reference, where));
  inputs.generator = "file";
  inputs.file = reference;
  const bool is_callable = reference.find(".py:") != std::string::npos;
  const auto file = is_callable ? find_model_file(reference).value_or(reference) : reference;
  ASSAY_ASSIGN_OR_RETURN(inputs.file_sha256, digest_samples(file, where));
  return is_callable ? check_factory(reference, where) : Status();
}

Status ModelBinder::bind_model(const SpecModel& entry, std::size_t index) {
  auto bound = unbound_model(spec_);
  bound.model = entry.model;
  bound.short_name = short_name_of(entry.model);
  bound.program_format = find_program_format(entry.model.ref);
  if (const auto file = find_model_file(entry.model.ref)) {
    const auto where = fmt::format("{}: models[{}].ref", spec_.origin, index);
    ASSAY_RETURN_IF_ERROR(check_is_text(*file, where));
    ASSAY_ASSIGN_OR_RETURN(bound.model.source_sha256,
                           digest_file(*file, where, {.sha256 = entry.sha256, .url = entry.url}));
    ASSAY_RETURN_IF_ERROR(check_factory(entry.model.ref, where));
    if (bound.program_format) {
      auto digest = digest_program(*file);
      if (!digest) {
        return fail_with_context(std::move(digest).error(), where);
      }
      bound.model.source_sha256 = *std::move(digest);
      ASSAY_RETURN_IF_ERROR(
          check_given_inputs(entry, fmt::format("{}: models[{}]", spec_.origin, index)));
    }
  }
  if (entry.brings_inputs) {
    bound.inputs.generator = kModelInputs;
    bound.calibration.generator = kModelInputs;
  }
  // A bundle brings its own inputs.
  const bool is_bundle = entry.model.ref.ends_with(".bpte") && entry.bindings.empty();
  ASSAY_RETURN_IF_ERROR(
      bind_file(is_bundle && entry.input_file.empty() ? entry.model.ref : entry.input_file, index,
                "inputs", bound.inputs));
  if (!entry.expected_file.empty()) {
    const auto where = fmt::format("{}: models[{}].expected", spec_.origin, index);
    ASSAY_RETURN_IF_ERROR(check_is_text(entry.expected_file, where));
    bound.expected_file = entry.expected_file;
    ASSAY_ASSIGN_OR_RETURN(bound.expected_sha256, digest_samples(entry.expected_file, where));
  }
  ASSAY_RETURN_IF_ERROR(bind_file(entry.calibration_file, index, "calibration", bound.calibration));
  if (entry.bindings.empty()) {
    models_.push_back(std::move(bound));
    return {};
  }
  for (const auto& inputs : entry.bindings) {
    models_.push_back(bound);
    models_.back().model.inputs = inputs;
  }
  return {};
}

}  // namespace

BoundModel unbound_model(const Spec& spec) {
  return {
      .inputs = {.seed = spec.evaluate.seed, .count = spec.evaluate.samples},
      .calibration = {
          .seed = spec.calibration.seed, .count = spec.calibration.batches, .role = "calibration"}};
}

Result<std::vector<BoundModel>> bind_models(const Spec& spec) {
  ModelBinder binder(spec);
  ASSAY_RETURN_IF_ERROR(binder.bind_models());
  return binder.take();
}

}  // namespace assay
