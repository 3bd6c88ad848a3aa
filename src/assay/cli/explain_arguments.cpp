#include "assay/cli/explain_arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "assay/base/suggest.h"

namespace assay::cli {
namespace {

bool is_flag(const std::string& argument) { return argument.starts_with('-'); }

std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

std::vector<std::string> verbs_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* verb : app.get_subcommands(/*filter=*/[](const CLI::App*) { return true; })) {
    names.push_back(verb->get_name());
  }
  return names;
}

std::string command_line(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name()
                                     : command_line(*app.get_parent()) + " " + app.get_name();
}

std::string help_hint(const CLI::App& app) {
  return fmt::format("; `{} --help` describes the command", command_line(app));
}

/// Explains a second model where a verb takes one.
std::string models_hint(const CLI::App& app) {
  return app.get_option_no_throw("model") == nullptr
             ? ""
             : "; the command takes one model, and a spec takes several: assay run FILE with "
               "{\"models\": [\"A\", \"B\"], …} (docs/reference/specs.md)";
}

std::string explain_argument(const CLI::App& app, const std::string& argument) {
  if (!is_flag(argument)) {
    const auto verbs = verbs_of(app);
    return verbs.empty()
               ? fmt::format("unexpected argument '{}'{}{}", argument, models_hint(app),
                             help_hint(app))
               : fmt::format("unknown verb '{}'{}", argument, suggestion_for(argument, verbs));
  }
  const auto written = argument.substr(0, argument.find('='));
  const auto nearest = find_nearest_name(written, flags_of(app));
  if (nearest == written) {
    return fmt::format("'{0}' stands before the verb, and flags follow it: {1} {0}", written,
                       command_line(app));
  }
  return fmt::format(
      "unknown flag '{}'{}", written,
      nearest.empty() ? help_hint(app) : fmt::format("; did you mean '{}'?", nearest));
}

/// The app of the verb that the command line names last.
const CLI::App* find_innermost(const CLI::App* app) {
  while (!app->get_subcommands().empty()) {
    app = app->get_subcommands().front();
  }
  return app;
}

}  // namespace

std::vector<std::string> explain_arguments(const CLI::App& app, const CLI::ParseError& error) {
  const auto& innermost = *find_innermost(&app);
  auto arguments = app.remaining(/*recurse=*/true);
  if (const auto end = std::ranges::find(arguments, "--"); end != arguments.end()) {
    // CLI11 keeps what is too much behind it.
    arguments.erase(arguments.begin(), end + 1);
    std::vector<std::string> lines;
    std::ranges::transform(arguments, std::back_inserter(lines), [&](const std::string& argument) {
      return fmt::format("unexpected argument '{}' behind --, where nothing is a flag{}", argument,
                         help_hint(innermost));
    });
    return lines.empty() ? std::vector{fmt::format("{}{}", error.what(), help_hint(innermost))}
                         : lines;
  }
  if (arguments.empty()) {
    return {fmt::format("{}{}", error.what(), help_hint(innermost))};
  }
  const auto first = std::ranges::find_if(arguments, is_flag);
  if (verbs_of(innermost).empty() && first != arguments.end()) {
    // A text beside an unknown flag is most likely its value.
    std::erase_if(arguments, std::not_fn(is_flag));
  } else {
    arguments.resize(1);  // The arguments after a wrong verb were meant for that verb.
  }
  std::vector<std::string> lines;
  lines.reserve(arguments.size());
  for (const auto& argument : arguments) {
    lines.push_back(explain_argument(innermost, argument));
  }
  return lines;
}

}  // namespace assay::cli
