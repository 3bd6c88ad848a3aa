#pragma once

#include <openvino/core/any.hpp>
#include <openvino/runtime/compiled_model.hpp>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/engine/engine.h"

namespace assay::openvino {

std::vector<OptionSchema> option_schema();

/// OpenVINO's properties for validated options. Errors: kInvalidArgument for values out of range.
Result<ov::AnyMap> properties_from(const Json& options);

/// The options in force, read back from the compiled model where it tells them.
Json effective_options(const Json& requested, const ov::CompiledModel& model);

/// Where what is in force is not what was asked for, in sentences.
std::vector<std::string> option_notes(const Json& requested, const Json& effective);

}  // namespace assay::openvino
