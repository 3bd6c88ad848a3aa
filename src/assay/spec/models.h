#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/tensor/tensor.h"

namespace assay {

/// A model that Assay lists; any other reference that a toolchain understands works as well.
struct ListedModel {
  std::string ref;
  std::vector<TensorSpec> inputs;
  std::string description;
};

/// python/assay/data/models.json, as built in; empty if built without the Python package's data.
std::span<const ListedModel> listed_models();

/// The tail of an error about an unknown model: the listed reference that is meant, or the kinds of
/// reference.
std::string model_suggestion_for(std::string_view ref);

}  // namespace assay
