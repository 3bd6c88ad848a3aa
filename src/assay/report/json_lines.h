#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "assay/base/json.h"
#include "assay/record/run.h"

/// JSON of many items, one a line.
namespace assay::report {

using OrderedJson = nlohmann::ordered_json;

/// On one line. Bytes that are no UTF-8 (an engine's stderr) become U+FFFD.
std::string dumped(const OrderedJson& document);

/// `head` with the items as its last field.
std::string document_with_items(const OrderedJson& head, std::string_view field, const Json& items);

/// An item that stands alone: its schema, run and environment before its own fields. Ends with a
/// newline.
std::string line_of_item(std::string_view schema, const Run& run, const std::string& environment,
                         const Json& item);

}  // namespace assay::report
