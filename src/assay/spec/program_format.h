#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/record/case.h"
#include "assay/record/subject.h"

namespace assay {

/// Format of a program file by its name ("net.pte" is "pte"); nothing for what a toolchain reads.
/// Another ending is taken for the format that some engine declares: "toy" of "net.toy" or
/// "net.toy.json".
std::optional<std::string> find_program_format(std::string_view ref);

/// The file behind a reference: "net.py" of "net.py:make", "net.pt2" of itself; nothing for a
/// library's model.
std::optional<std::string> find_model_file(std::string_view ref);

/// Formats that a build loads: what its details tell under "formats", else what is known of the
/// engine.
std::vector<std::string> formats_of(const EngineBuild& build);

/// Engines that Assay knows, installed or not.
const std::vector<std::string>& known_engine_names();

}  // namespace assay
