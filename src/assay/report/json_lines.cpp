#include "assay/report/json_lines.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "assay/base/json.h"
#include "assay/record/run.h"

namespace assay::report {

std::string dumped(const OrderedJson& document) {
  return document.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

std::string document_with_items(const OrderedJson& head, std::string_view field,
                                const Json& items) {
  auto text = dumped(head);
  text.pop_back();
  text += fmt::format(",\n\"{}\":[", field);
  std::string_view separator = "\n";
  for (const auto& item : items) {
    text += separator;
    text += dumped(item);
    separator = ",\n";
  }
  return text + "\n]}";
}

std::string line_of_item(std::string_view schema, const Run& run, const std::string& environment,
                         const Json& item) {
  OrderedJson line;
  line["schema"] = schema;
  line["run"] = run.id;
  line["environment"] = environment;
  line.update(OrderedJson(item));
  return dumped(line) + "\n";
}

}  // namespace assay::report
