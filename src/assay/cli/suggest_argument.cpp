#include "assay/cli/suggest_argument.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "assay/base/suggest.h"

namespace assay::cli {
namespace {

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

void add_suggestion(const CLI::App& app, const std::string& argument,
                    std::vector<std::string>& lines) {
  const bool is_flag = argument.starts_with("--");
  const auto written = argument.substr(0, argument.find('='));
  const auto known = is_flag ? flags_of(app) : verbs_of(app);
  if (!is_flag && !known.empty()) {
    lines.push_back(fmt::format("unknown verb '{}'{}", written, suggestion_for(written, known)));
  } else if (const auto nearest = find_nearest_name(written, known); !nearest.empty()) {
    lines.push_back(fmt::format("unknown flag '{}'; did you mean '{}'?", written, nearest));
  }
}

}  // namespace

std::vector<std::string> suggest_arguments(const CLI::App& app) {
  std::vector<std::string> lines;
  const CLI::App* innermost = &app;
  while (!innermost->get_subcommands().empty()) {
    innermost = innermost->get_subcommands().front();
  }
  for (const auto& argument : app.remaining(/*recurse=*/true)) {
    add_suggestion(*innermost, argument, lines);
    if (!argument.starts_with("--")) {
      break;  // What follows a wrong verb was meant for that verb.
    }
  }
  return lines;
}

}  // namespace assay::cli
