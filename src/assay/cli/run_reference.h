#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay::cli {

/// The stored run that an argument names where a model may stand, too, as ResultStore::get_run
/// takes it: "run:REF", "latest", "latest:bench", "label:commit=abc", or at least eight digits of
/// an id. nullopt for anything else, and for a file of that name.
std::optional<std::string> find_run_reference(std::string_view argument);

}  // namespace assay::cli
