#include "assay/spec/models.h"

#include "spec_data.h"

#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

std::vector<ListedModel> read_listed_models() {
  std::vector<ListedModel> models;
  const auto text = spec_data("models.json");
  if (text.empty()) {
    return models;
  }
  const auto document = parse_json(text, "models.json");
  ASSAY_CHECK(document.has_value());
  for (const auto& entry : document->at("models")) {
    models.push_back({.ref = entry.at("ref").get<std::string>(),
                      .inputs = entry.at("inputs").get<std::vector<TensorSpec>>(),
                      .description = entry.value("description", "")});
  }
  return models;
}

}  // namespace

std::span<const ListedModel> listed_models() {
  static const auto models = read_listed_models();
  return models;
}

std::string model_suggestion_for(std::string_view ref) {
  std::map<std::string, std::string> ref_of_name;
  std::vector<std::string> names;
  for (const auto& model : listed_models()) {
    auto name = model.ref.substr(model.ref.find(':') + 1);
    names.push_back(name);
    ref_of_name.emplace(std::move(name), model.ref);
  }
  const auto name = find_nearest_name(ref, names);
  return name.empty()
             ? "; a model is library:name (torchvision:mobilenet_v2), file.py:factory, or a file "
               "(.pt2, .onnx, .tflite, .pte)"
             : fmt::format("; did you mean '{}'?", ref_of_name.at(name));
}

}  // namespace assay
