// The JSON Schema that editors use knows what the reader knows.
#include "spec_data.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/spec/spec.h"
#include "assay/tensor/dtype.h"

namespace assay {
namespace {

// The object of the schema that a path of spec_keys() means.
const Json& schema_object(const Json& schema, std::string_view path) {
  const auto& defs = schema.at("$defs");
  if (path.empty()) {
    return schema;  // NOLINT(bugprone-return-const-ref-from-parameter): the caller keeps it.
  }
  if (path == "models[].inputs[]") {
    return defs.at("input");
  }
  auto name = std::string(path.substr(path.find('.') == path.npos ? 0 : path.find('.') + 1));
  for (const std::string_view plural : {"models[]", "recipes[]"}) {
    if (name == plural) {
      name = plural.substr(0, plural.size() - 3);
    }
  }
  return defs.at(name == "exclude[]" ? "exclude" : name);
}

TEST(SpecSchema, KnowsTheSameKeysAsTheReader) {
  const auto schema = parse_json(spec_data("spec.schema.json"), "schema").value();
  for (const auto& [path, keys] : spec_keys()) {
    std::set<std::string> in_schema;
    const auto& object = schema_object(schema, path);
    for (const auto& [key, ignored] : object.at("properties").items()) {
      in_schema.insert(key);
    }
    EXPECT_EQ(in_schema, std::set<std::string>(keys.begin(), keys.end())) << path;
    EXPECT_EQ(object.at("additionalProperties"), false) << path;
  }
}

TEST(SpecSchema, KnowsTheSameWordsAsTheReader) {
  const auto schema = parse_json(spec_data("spec.schema.json"), "schema").value();
  const auto& defs = schema.at("$defs");
  const auto names_of = [](const auto& table) {
    Json names = Json::array();
    for (const auto& entry : table) {
      names.push_back(entry.second);
    }
    return names;
  };
  EXPECT_EQ(defs.at("input").at("properties").at("dtype").at("enum"), names_of(kEnumNames<Dtype>));
  EXPECT_EQ(defs.at("measure").at("properties").at("passes").at("items").at("enum"),
            names_of(kEnumNames<Pass>));
  EXPECT_EQ(schema.at("properties").at("expand").at("enum"), names_of(kEnumNames<Expand>));
}

}  // namespace
}  // namespace assay
