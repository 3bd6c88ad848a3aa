#include "features/exchange/fai_pep/composition.h"

#include "features/exchange/fai_pep/locations.h"
#include "features/exchange/fai_pep/stand_ins.h"
#include "features/exchange/fai_pep/substitution.h"
#include "features/exchange/fai_pep/test_entry.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay::fai_pep {
namespace {

// Marks of a token while text is put together, as no text of a specification has them.
constexpr char kOpen = '\x01';
constexpr char kClose = '\x02';

std::string token(std::string_view kind, std::string_view name) {
  return fmt::format("{}{}:{}{}", kOpen, kind, name, kClose);
}

/// Braces of the text doubled, tokens as placeholders.
std::string argument_from(std::string_view text) {
  std::string argument;
  for (const char c : text) {
    argument += c == '{' ? "{{" : c == kOpen ? "{" : c == kClose ? "}" : std::string(1, c);
  }
  return argument;
}

/// Puts the commands of one test together.
class Composer {
 public:
  Composer(const TestEntry& entry, const StandIns& stand_ins)
      : entry_(entry), stand_ins_(stand_ins) {}

  Result<Composition> compose() {
    ASSAY_RETURN_IF_ERROR(add_part(entry_.model, "preprocess", "model.preprocess"));
    for (index_ = 0; index_ < repeats(); ++index_) {
      ASSAY_RETURN_IF_ERROR(add_part(entry_.test, "preprocess", test_path("preprocess")));
      ASSAY_RETURN_IF_ERROR(add_main());
      ASSAY_RETURN_IF_ERROR(add_part(entry_.test, "postprocess", test_path("postprocess")));
    }
    index_ = std::max(0, repeats() - 1);
    ASSAY_RETURN_IF_ERROR(add_part(entry_.model, "postprocess", "model.postprocess"));
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::string test_path(std::string_view key) const {
    return fmt::format("tests[{}].{}", entry_.position, key);
  }

  [[nodiscard]] int repeats() const {
    const auto repeat = entry_.model.find("repeat");
    return repeat != entry_.model.end() && repeat->is_number_integer()
               ? std::clamp(repeat->get<int>(), 1, 1000)
               : 1;
  }

  Status add_part(const Json& owner, const char* key, const std::string& path) {
    const auto part = owner.find(key);
    if (part == owner.end() || !part->is_object()) {
      return {};
    }
    auto commands = part->value("commands", Json::array());
    if (commands.empty() && part->contains("command")) {
      commands = Json::array({(*part)["command"]});
    }
    for (std::size_t i = 0; i < commands.size(); ++i) {
      ASSAY_RETURN_IF_ERROR(add_command(commands[i], fmt::format("{}.commands[{}]", path, i)));
      ++result_.host_commands;
    }
    return {};
  }

  Status add_main() {
    if (!entry_.test.contains("commands")) {
      return entry_.test.contains("inputs") ? add_from_inputs() : Status();
    }
    const auto& commands = entry_.test["commands"];
    for (std::size_t i = 0; i < commands.size(); ++i) {
      ASSAY_RETURN_IF_ERROR(
          add_command(commands[i], fmt::format("{}[{}]", test_path("commands"), i)));
    }
    return {};
  }

  Status add_command(const Json& command, const std::string& path) {
    if (!command.is_string()) {
      return fail(ErrorCode::kInvalidArgument, path + ": must be a string");
    }
    auto text = command.get<std::string>();
    const bool runs_program = text.find("{program}") != std::string::npos;
    const auto lookup = [this](std::string_view name) { return value_of(name); };
    ASSAY_ASSIGN_OR_RETURN(text, substituted(text, lookup, path));
    if (const auto more = scalar_at(entry_.model, "command_args"); runs_program && more) {
      text += " " + *more;
    }
    auto words = words_from_command(text);
    if (!words) {
      return fail_with_context(std::move(words).error(), path);
    }
    return add_step(*words, path);
  }

  Status add_step(const std::vector<std::string>& words, const std::string& path) {
    if (words.empty()) {
      return fail(ErrorCode::kInvalidArgument, path + ": is empty");
    }
    Argv step;
    std::ranges::transform(words, std::back_inserter(step), argument_from);
    result_.steps.push_back(std::move(step));
    return {};
  }

  /// The oldest spelling: a command line made of files and inputs.
  Status add_from_inputs() {
    const bool is_tflite = entry_.format() == "tflite";
    ASSAY_ASSIGN_OR_RETURN(auto words, is_tflite ? tflite_words() : caffe2_words());
    return add_step(words, test_path("inputs"));
  }

  Result<std::string> needed(std::string_view name) {
    ASSAY_ASSIGN_OR_RETURN(auto value, value_of(name));
    return value ? Result<std::string>(*value)
                 : fail(ErrorCode::kInvalidArgument,
                        fmt::format("{}: needs {{{}}}", test_path("inputs"), name));
  }

  static std::string joined_shape(const Json& input) {
    const auto shapes = input.value("shapes", Json::array());
    std::vector<std::string> sizes;
    for (const auto& size : shapes.empty() ? Json::array() : shapes[0]) {
      sizes.push_back(size.dump());
    }
    return fmt::format("{}", fmt::join(sizes, ","));
  }

  Result<std::vector<std::string>> tflite_words() {
    ASSAY_ASSIGN_OR_RETURN(const auto program, needed("program"));
    ASSAY_ASSIGN_OR_RETURN(const auto graph, needed("files.graph"));
    std::string name;
    std::string shape;
    for (const auto& [key, input] : entry_.test["inputs"].items()) {
      name = key;  // The last one, as there.
      shape = joined_shape(input);
    }
    return std::vector<std::string>{
        program,
        "--graph=" + graph,
        "--warmup_runs=" + scalar_at(entry_.test, "warmup").value_or("-1"),
        "--num_runs=" + scalar_at(entry_.test, "iter").value_or("-1"),
        "--input_layer=" + name,
        "--input_layer_shape=" + shape};
  }

  Result<std::vector<std::string>> caffe2_words() {
    ASSAY_ASSIGN_OR_RETURN(const auto program, needed("program"));
    ASSAY_ASSIGN_OR_RETURN(const auto predict, needed("files.predict"));
    std::vector<std::string> words = {program,
                                      "--net",
                                      predict,
                                      "--warmup",
                                      scalar_at(entry_.test, "warmup").value_or("-1"),
                                      "--iter",
                                      scalar_at(entry_.test, "iter").value_or("-1")};
    ASSAY_ASSIGN_OR_RETURN(const auto init, value_of("files.init"));
    if (init) {
      words.insert(words.end(), {"--init_net", *init});
    }
    ASSAY_RETURN_IF_ERROR(add_caffe2_inputs(words));
    const auto outputs = entry_.test.value("output_files", Json::object());
    if (!outputs.empty()) {
      words.insert(words.end(), {"--output", joined_keys(outputs), "--text_output", "true",
                                 "--output_folder", token("scratch", "output")});
    }
    return words;
  }

  /// "commands": {"caffe2": {"NAME": VALUE}} as it was once written.
  void add_options(std::vector<std::string>& words) const {
    const auto options = entry_.test.value("command_options", Json::object());
    const auto found = options.find("caffe2");
    const auto own = found != options.end() && found->is_object() ? *found : Json::object();
    for (const auto& [name, value] : own.items()) {
      words.push_back("--" + name);
      words.push_back(unquoted_text(value));
    }
  }

  static std::string joined_keys(const Json& object) {
    std::vector<std::string> keys;
    for (const auto& [key, ignored] : object.items()) {
      keys.push_back(key);
    }
    return fmt::format("{}", fmt::join(keys, ","));
  }

  Status add_caffe2_inputs(std::vector<std::string>& words) {
    const auto& inputs = entry_.test["inputs"];
    std::vector<std::string> parts;
    const auto files = entry_.test.value("input_files", Json::object());
    for (const auto& [key, ignored] : files.items()) {
      ASSAY_ASSIGN_OR_RETURN(parts.emplace_back(), needed("input_files." + key));
    }
    if (!files.empty()) {
      words.insert(words.end(), {"--input_file", fmt::format("{}", fmt::join(parts, ",")),
                                 "--input", joined_keys(files)});
    } else {
      for (const auto& input : inputs) {
        parts.push_back(joined_shape(input));
      }
      words.insert(words.end(), {"--input_dims", fmt::format("{}", fmt::join(parts, ";")),
                                 "--input", joined_keys(inputs)});
    }
    const auto type = inputs.empty() ? std::nullopt : scalar_at(*inputs.begin(), "type");
    words.insert(words.end(), {"--input_type", type.value_or("float")});
    return {};
  }

  /// Text that Assay or the user gives, before the specification is asked.
  std::optional<std::string> given_value(std::string_view name) {
    if (const auto found = stand_ins_.values.find(std::string(name));
        found != stand_ins_.values.end()) {
      const bool is_path = found->second.starts_with('/');
      return is_path ? place(found->first, {.path = found->second, .md5 = {}}) : found->second;
    }
    if (name == "TGTDIR") {
      return token("scratch", "target") + "/";
    }
    if (name == "HOSTDIR") {
      return token("scratch", "host");
    }
    if (name == "INDEX") {
      return std::to_string(index_);
    }
    return std::nullopt;
  }

  std::string place(const std::string& name, LocatedFile file) {
    result_.places.insert_or_assign(name, std::move(file));
    return token("place", name);
  }

  /// A file of the specification; one without md5 whose location has placeholders is made by the
  /// commands themselves.
  Result<std::optional<std::string>> value_of_file(const std::string& key, const Json& file) {
    auto location = scalar_at(file, "location").value_or("");
    if (!file.contains("md5") && location.find('{') != std::string::npos) {
      return location;
    }
    auto located = locate(key, file, entry_, stand_ins_);
    if (!located) {
      result_.missing.push_back(located.error().message);
      located = LocatedFile{.path = location, .md5 = scalar_at(file, "md5").value_or("")};
    }
    return place(key, *std::move(located));
  }

  /// Finds a value by its dotted path in an object; a file becomes a place.
  Result<std::optional<std::string>> value_in(const Json& root, std::string_view name) {
    const Json* entry = &root;
    for (std::string_view rest = name; !rest.empty();) {
      const auto dot = std::min(rest.find('.'), rest.size());
      const auto found =
          entry->is_object() ? entry->find(std::string(rest.substr(0, dot))) : entry->end();
      if (found == entry->end()) {
        return std::nullopt;
      }
      entry = &*found;
      rest.remove_prefix(std::min(dot + 1, rest.size()));
    }
    return entry->is_object() && entry->contains("filename")
               ? value_of_file(std::string(name), *entry)
               : Result<std::optional<std::string>>(scalar_at(root, name));
  }

  Result<std::optional<std::string>> value_of_program(const std::string& name) {
    if (const auto found = stand_ins_.programs.find(name); found != stand_ins_.programs.end()) {
      return place(name, {.path = std::filesystem::absolute(found->second).lexically_normal(),
                          .md5 = {},
                          .is_stand_in = true});
    }
    if (name == "BUILDDIR" && stand_ins_.programs.contains("program")) {
      const auto& program = stand_ins_.programs.at("program");
      return place(name, {.path = std::filesystem::absolute(program).parent_path()});
    }
    if (name == "program") {
      result_.missing.emplace_back("{program} is not known: name it with --program program=PATH");
      return place(name, {.path = "program"});
    }
    return std::nullopt;
  }

  /// The test, the model, the programs, in this order.
  Result<std::optional<std::string>> value_of(std::string_view name) {
    if (auto given = given_value(name)) {
      return given;
    }
    for (const auto* root : {&entry_.test, &entry_.model}) {
      ASSAY_ASSIGN_OR_RETURN(auto found, value_in(*root, name));
      if (found) {
        return found;
      }
    }
    return value_of_program(std::string(name));
  }

  const TestEntry& entry_;
  const StandIns& stand_ins_;
  int index_ = 0;
  Composition result_;
};

}  // namespace

Result<Composition> composed(const TestEntry& entry, const StandIns& stand_ins) {
  return Composer(entry, stand_ins).compose();
}

Argv shown_argv(const Argv& step, const Composition& composition) {
  Argv shown;
  for (const auto& argument : step) {
    std::string text;
    for (std::size_t at = 0; at < argument.size(); ++at) {
      const auto close = argument.find('}', at);
      if (argument[at] != '{' || argument.compare(at, 2, "{{") == 0 || close == std::string::npos) {
        at += argument.compare(at, 2, "{{") == 0 ? 1 : 0;
        text += argument[at];
        continue;
      }
      const auto name = argument.substr(at + 1, close - at - 1);
      const auto value = name.substr(name.find(':') + 1);
      const auto place = composition.places.find(value);
      text += name.starts_with("place:") && place != composition.places.end()
                  ? place->second.path.string()
                  : "<" + value + ">";
      at = close;
    }
    shown.push_back(std::move(text));
  }
  return shown;
}

}  // namespace assay::fai_pep
