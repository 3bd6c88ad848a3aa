#include "features/exchange/fai_pep/specification.h"

#include "features/exchange/fai_pep/test_entry.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay::fai_pep {
namespace {

constexpr auto kMetrics =
    std::to_array<std::string_view>({"delay", "accuracy", "error", "power", "generic"});

std::unexpected<Error> refuse(const std::string& path, std::string_view what) {
  return fail(ErrorCode::kInvalidArgument, fmt::format("{}: {}", path, what));
}

bool has_text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() &&
         !found->get_ref<const std::string&>().empty();
}

bool is_list_of_texts(const Json& value) {
  return value.is_array() &&
         std::ranges::all_of(value, [](const Json& entry) { return entry.is_string(); });
}

/// Lists append; what the target has stays.
// NOLINTNEXTLINE(misc-no-recursion)
void merge_into(Json& target, const Json& source) {
  if (target.is_array() && source.is_array()) {
    target.insert(target.end(), source.begin(), source.end());
  } else if (target.is_object() && source.is_object()) {
    for (const auto& [key, value] : source.items()) {
      if (target.contains(key)) {
        merge_into(target[key], value);
      } else {
        target[key] = value;
      }
    }
  }
}

/// A member that may be absent, of one kind where it is there.
Status check_kind(const Json& owner, const char* key, const std::string& path,
                  bool (Json::*is_kind)() const noexcept, std::string_view wanted) {
  const auto found = owner.find(key);
  return found == owner.end() || ((*found).*is_kind)()
             ? Status()
             : Status(refuse(fmt::format("{}.{}", path, key), wanted));
}

/// Commands that run on the host before or after something.
Status check_host_parts(const Json& owner, const std::string& path) {
  for (const auto* key : {"preprocess", "postprocess"}) {
    ASSAY_RETURN_IF_ERROR(check_kind(owner, key, path, &Json::is_object, "must be an object"));
    const auto part = owner.value(key, Json::object());
    if (!is_list_of_texts(part.value("commands", Json::array()))) {
      return refuse(fmt::format("{}.{}.commands", path, key), "must be a list of commands");
    }
  }
  return {};
}

/// Members by which a test is expanded and composed.
Status check_members(const Json& test, const std::string& path) {
  for (const auto* key : {"inputs", "input_files", "output_files", "env", "platform_args"}) {
    ASSAY_RETURN_IF_ERROR(check_kind(test, key, path, &Json::is_object, "must be an object"));
  }
  for (const auto* key : {"iter", "warmup"}) {
    ASSAY_RETURN_IF_ERROR(
        check_kind(test, key, path, &Json::is_number_integer, "must be a whole number"));
  }
  ASSAY_RETURN_IF_ERROR(check_kind(test, "identifier", path, &Json::is_string, "must be a string"));
  const auto inputs = test.value("inputs", Json::object());
  for (const auto& [name, input] : inputs.items()) {
    const auto shapes = input.is_object() ? input.value("shapes", Json()) : Json();
    const bool are_shapes =
        shapes.is_array() && !shapes.empty() &&
        std::ranges::all_of(shapes, [](const Json& shape) { return shape.is_array(); });
    if (!are_shapes) {
      return refuse(fmt::format("{}.inputs.{}.shapes", path, name), "must be a list of shapes");
    }
  }
  return check_host_parts(test, path);
}

Status check_files(const Json& files, const std::string& path) {
  if (!files.is_object()) {
    return refuse(path, "must be an object of files by their keys");
  }
  for (const auto& [key, file] : files.items()) {
    if (!file.is_object() || !has_text(file, "filename")) {
      return refuse(fmt::format("{}.{}", path, key), "needs a \"filename\"");
    }
  }
  return {};
}

Status check_model(const Json& model) {
  if (!model.is_object()) {
    return refuse("model", "must be an object");
  }
  for (const auto* key : {"name", "format"}) {
    if (!has_text(model, key)) {
      return refuse(fmt::format("model.{}", key), "is missing");
    }
  }
  ASSAY_RETURN_IF_ERROR(check_host_parts(model, "model"));
  return check_files(model.value("files", Json::object()), "model.files");
}

/// "commands" from their older spellings "command" and "arguments".
Status rewrite_commands(Json& test, const std::string& path) {
  const int spellings = static_cast<int>(test.contains("commands")) +
                        static_cast<int>(test.contains("command")) +
                        static_cast<int>(test.contains("arguments"));
  if (spellings > 1) {
    return refuse(path, "has more than one of \"commands\", \"command\" and \"arguments\"");
  }
  if (has_text(test, "arguments")) {
    test["commands"] = {"{program} " + test["arguments"].get<std::string>()};
    test.erase("arguments");
  } else if (has_text(test, "command")) {
    test["commands"] = {test["command"]};
  }
  if (test.contains("commands") && test["commands"].is_object()) {  // Options of a framework.
    test["command_options"] = test["commands"];
    test.erase("commands");
    return {};
  }
  if (test.contains("commands") &&
      (!is_list_of_texts(test["commands"]) || test["commands"].empty())) {
    return refuse(path + ".commands", "must be a list of commands");
  }
  return {};
}

Status check_test(Json& test, const std::string& path) {
  if (!test.is_object() || !has_text(test, "metric")) {
    return refuse(path, "needs a \"metric\"");
  }
  const auto metric = test["metric"].get<std::string>();
  if (std::ranges::find(kMetrics, metric) == kMetrics.end()) {
    return refuse(path + ".metric", fmt::format("'{}' is none of delay, accuracy, error, power, "
                                                "generic",
                                                metric));
  }
  if (!has_text(test, "identifier") && metric != "generic") {
    return refuse(path, "needs an \"identifier\"");
  }
  for (const auto* group : {"files", "input_files", "output_files"}) {
    if (test.contains(group)) {
      ASSAY_RETURN_IF_ERROR(check_files(test[group], fmt::format("{}.{}", path, group)));
    }
  }
  ASSAY_RETURN_IF_ERROR(check_members(test, path));
  test.emplace("iter", -1);
  test.emplace("warmup", -1);
  ASSAY_RETURN_IF_ERROR(rewrite_commands(test, path));
  return test.contains("commands") || test.contains("inputs") || test.contains("command_options")
             ? Status()
             : Status(refuse(path, "has neither \"commands\" nor \"inputs\""));
}

/// Shapes of the first input; a test on n of them is n tests.
Result<std::size_t> count_shapes(const Json& test, const std::string& path) {
  std::size_t count = 1;
  bool is_first = true;
  const auto inputs = test.value("inputs", Json::object());
  for (const auto& [name, input] : inputs.items()) {
    const auto& shapes = input["shapes"];
    if (!is_first && shapes.size() != count) {
      return refuse(fmt::format("{}.inputs.{}.shapes", path, name),
                    "must be as long as that of the other inputs");
    }
    count = shapes.size();
    is_first = false;
  }
  return count;
}

void append_shapes(const Json& test, std::size_t count, std::vector<Json>& tests) {
  for (std::size_t i = 0; i < count; ++i) {
    auto one = test;
    if (count > 1) {
      for (auto& input : one["inputs"]) {
        input["shapes"] = Json::array({input["shapes"][i]});
      }
    }
    tests.push_back(std::move(one));
  }
}

bool splits_shapes(const Json& model) {
  const auto format = model.value("format", std::string());
  return format == "caffe2" || format == "pytorch";
}

Result<std::vector<Json>> tests_of(const Json& document) {
  const auto& listed = document.at("tests");
  if (!listed.is_array() || listed.empty()) {
    return refuse("tests", "must be a list of at least one test");
  }
  std::vector<Json> tests;
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const auto path = fmt::format("tests[{}]", i);
    auto test = listed[i];
    ASSAY_RETURN_IF_ERROR(check_test(test, path));
    std::size_t count = 1;
    if (splits_shapes(document.at("model"))) {
      ASSAY_ASSIGN_OR_RETURN(count, count_shapes(test, path));
    }
    append_shapes(test, count, tests);
  }
  return tests;
}

void put_identifier(int position, Json& test) {
  auto identifier = test.value("identifier", std::string("generic-{ID}"));
  constexpr std::string_view kPosition = "{ID}";
  for (auto at = identifier.find(kPosition); at != std::string::npos;
       at = identifier.find(kPosition)) {
    identifier.replace(at, kPosition.size(), std::to_string(position));
  }
  test["identifier"] = identifier;
}

Result<std::vector<TestEntry>> entries_of(Json document, const Json& meta,
                                          const std::filesystem::path& path) {
  if (!document.contains("model")) {
    return refuse("model", "is missing");
  }
  ASSAY_RETURN_IF_ERROR(check_model(document["model"]));
  merge_into(document["model"], meta);
  ASSAY_ASSIGN_OR_RETURN(auto tests, tests_of(document));
  std::vector<TestEntry> entries;
  for (auto& test : tests) {
    const auto position = static_cast<int>(entries.size());
    put_identifier(position, test);
    entries.push_back({.file = std::filesystem::absolute(path),
                       .position = position,
                       .model = document["model"],
                       .test = std::move(test)});
  }
  return entries;
}

Result<Json> read_object(const std::filesystem::path& path) {
  ASSAY_ASSIGN_OR_RETURN(auto document, read_document(path));
  return document.is_object() && is_specification(document)
             ? Result<Json>(std::move(document))
             : refuse(path.string(), "has neither \"tests\" nor \"benchmarks\"");
}

Result<std::vector<TestEntry>> read_model_file(const std::filesystem::path& path,
                                               const Json& meta) {
  ASSAY_ASSIGN_OR_RETURN(auto document, read_object(path));
  if (!document.contains("tests")) {
    return refuse(path.string(), "is a sequence itself");
  }
  auto entries = entries_of(std::move(document), meta, path);
  return entries ? std::move(entries)
                 : Result<std::vector<TestEntry>>(
                       fail_with_context(std::move(entries).error(), path.string()));
}

}  // namespace

bool is_specification(const Json& document) {
  return document.is_object() && !document.contains("schema") &&
         (document.contains("tests") || document.contains("benchmarks"));
}

Result<Json> read_document(const std::filesystem::path& path) {
  ASSAY_ASSIGN_OR_RETURN(const auto text, read_file(path, kMaxJsonFileBytes));
  bool is_deep = false;
  const auto check_depth = [&is_deep](int depth, Json::parse_event_t /*event*/, Json& /*value*/) {
    is_deep = is_deep || depth >= kMaxJsonDepth;
    return !is_deep;
  };
  auto document = Json::parse(text, check_depth, /*allow_exceptions=*/false);
  if (document.is_discarded() || is_deep) {
    return refuse(path.string(), is_deep ? "is nested too deeply" : "is no JSON");
  }
  return document;
}

Result<std::vector<TestEntry>> read_specification(const std::filesystem::path& path) {
  ASSAY_ASSIGN_OR_RETURN(const auto document, read_object(path));
  if (!document.contains("benchmarks")) {
    return read_model_file(path, document.value("meta", Json::object()));
  }
  if (!is_list_of_texts(document["benchmarks"])) {
    return refuse(path.string() + ": benchmarks", "must be a list of model files");
  }
  std::vector<TestEntry> entries;
  for (const auto& name : document["benchmarks"]) {
    const auto file = (path.parent_path() / name.get<std::string>()).lexically_normal();
    ASSAY_ASSIGN_OR_RETURN(auto of_file,
                           read_model_file(file, document.value("meta", Json::object())));
    std::ranges::move(of_file, std::back_inserter(entries));
  }
  return entries;
}

}  // namespace assay::fai_pep
