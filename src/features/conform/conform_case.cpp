#include "features/conform/conform_case.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/case.h"
#include "assay/record/conformance.h"
#include "assay/record/model_inputs.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

constexpr int kOwnSamples = 3;

/// "" where it is absent or null.
std::string text_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

ModelReference model_from(const Json& json) {
  if (json.is_string()) {
    return {.ref = json.get<std::string>()};
  }
  ModelReference model{.ref = json.at("ref").get<std::string>(),
                       .args = json.value("args", Json::object()),
                       .seed = json.value("seed", std::uint64_t{0})};
  const auto inputs = json.value("inputs", Json());
  for (const auto& input : inputs) {
    model.inputs.push_back(
        {.dtype = input.value("dtype", Dtype::kFloat32), .shape = input.at("shape").get<Shape>()});
  }
  if (const auto weight_init = json.value("weight_init", Json()); weight_init.is_boolean()) {
    model.weight_init = weight_init.get<bool>();
  }
  return model;
}

InputSet inputs_from(const Json& json) {
  const auto given = json.value("inputs", Json::object());
  return {.generator = given.value("generator", std::string(kModelInputs)),
          .seed = given.value("seed", std::uint64_t{1}),
          .count = given.value("count", kOwnSamples)};
}

ConformCase case_from(const Json& json) {
  return {.name = json.at("name").get<std::string>(),
          .model = model_from(json.at("model")),
          .inputs = inputs_from(json),
          .operator_name = text_of(json, "operator"),
          .dtype = text_of(json, "dtype"),
          .shape_class = text_of(json, "shape_class"),
          .values = text_of(json, "values"),
          .tier = text_of(json, "tier"),
          .is_joinable = json.value("joinable", false),
          .refuses = json.value("refuses", false),
          .cost = json.value("cost", 1.0)};
}

OperatorCoverage coverage_from(const Json& json) {
  return {.operator_name = json.at("operator").get<std::string>(),
          .cases = json.value("cases", 0),
          .reason = text_of(json, "reason")};
}

/// Every item of a list by `read`; what that throws becomes kCorrupt with its place.
template <class Item>
Result<std::vector<Item>> items_of(const Json& reply, const char* key, Item (*read)(const Json&)) {
  const auto list = reply.is_object() ? reply.value(key, Json::array()) : Json();
  if (!list.is_array()) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("the toolchain's list of cases has no list \"{}\"", key));
  }
  std::vector<Item> items;
  for (std::size_t i = 0; i < list.size(); ++i) {
    try {
      items.push_back(read(list[i]));
    } catch (const std::exception& error) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("the toolchain's list of cases, {}[{}]: {}", key, i, error.what()));
    }
  }
  return items;
}

}  // namespace

Json listing_request(const CaseSelection& selection) {
  Json request = {{"job", "conform"},         {"suite", selection.suite}, {"tier", selection.tier},
                  {"match", selection.match}, {"dtypes", nullptr},        {"seed", selection.seed},
                  {"count", selection.count}};
  if (!selection.dtypes.empty()) {
    request["dtypes"] = selection.dtypes;
  }
  return request;
}

Result<CaseListing> listing_from_json(const Json& reply) {
  CaseListing listing;
  ASSAY_ASSIGN_OR_RETURN(listing.cases, items_of(reply, "cases", case_from));
  ASSAY_ASSIGN_OR_RETURN(listing.coverage, items_of(reply, "coverage", coverage_from));
  listing.known_gaps_folder = text_of(reply, "known_gaps_folder");
  std::set<std::string> names;
  for (const auto& one : listing.cases) {
    if (!names.insert(one.name).second) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("the toolchain lists the case '{}' twice", one.name));
    }
  }
  return listing;
}

std::vector<ConformCase> shard_of(const std::vector<ConformCase>& cases, int index, int count) {
  std::vector<std::size_t> order(cases.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // The dearest first, and then in their order.
  std::ranges::sort(order, {}, [&](std::size_t at) { return std::pair(-cases[at].cost, at); });
  std::vector<double> loads(static_cast<std::size_t>(count), 0.0);
  std::vector<bool> is_ours(cases.size(), false);
  for (const auto at : order) {
    const auto least = std::ranges::min_element(loads);
    *least += cases[at].cost;
    is_ours[at] = least - loads.begin() == index;
  }
  std::vector<ConformCase> share;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (is_ours[i]) {
      share.push_back(cases[i]);
    }
  }
  return share;
}

}  // namespace assay
