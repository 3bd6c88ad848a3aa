#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "assay/base/json.h"
#include "assay/spec/spec.h"

/// Specs for tests, as if they stood in /specs/x.json.
namespace assay {

SpecContext context_in_folder();

/// One model and one recipe.
Json minimal_spec();

/// The example of the design, with every key. Fails the test when it is refused.
Spec whole_spec();

/// The message that a change of the minimal spec earns; empty if it is fine.
std::string message_of(const std::function<void(Json&)>& change);

/// Likewise, with a key set to a value in JSON.
std::string message_with(std::string_view key, std::string_view value);

}  // namespace assay
