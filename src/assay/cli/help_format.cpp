#include "assay/cli/help_format.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

#include "assay/report/format.h"

namespace assay::cli {
namespace {

constexpr std::size_t kTextColumn = 30;
constexpr std::size_t kNarrowest = 60;
/// A verb with so few flags shows all of them in its short help.
constexpr std::size_t kFewFlags = 10;

std::string upper_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char one) { return std::toupper(one); });
  return text;
}

bool takes_several(const CLI::Option& option) { return option.get_items_expected_max() > 1; }

/// "MODEL", "[RUN]", "FILES...".
std::string usage_of_positional(const CLI::Option& option) {
  const auto name =
      upper_case(option.get_name(/*positional=*/true)) + (takes_several(option) ? "..." : "");
  return option.get_required() ? name : "[" + name + "]";
}

/// "-q, --quiet", "--recipe NAME ...".
std::string help_title(const CLI::Option& option) {
  if (option.get_positional()) {
    return upper_case(option.get_name(/*positional=*/true)) + (takes_several(option) ? " ..." : "");
  }
  std::vector<std::string> names;
  for (const auto& name : option.get_snames()) {
    names.push_back("-" + name);
  }
  for (const auto& name : option.get_lnames()) {
    names.push_back("--" + name);
  }
  auto title = fmt::format("{}", fmt::join(names, ", "));
  if (option.get_type_size() != 0 && !option.get_type_name().empty()) {
    title += " " + option.get_type_name();
  }
  return title + (takes_several(option) ? " ..." : "");
}

/// Flags of a command in the order of their declaration, without those that ask for help.
std::vector<const CLI::Option*> flags_with_help(const CLI::App& app) {
  return app.get_options([&app](const CLI::Option* option) {
    return option->nonpositional() && !option->get_group().empty() &&
           option != app.get_help_ptr() && option != app.get_help_all_ptr();
  });
}

std::vector<const CLI::Option*> positionals_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::string usage(const CLI::App& app, const std::string& name) {
  auto line = fmt::format("Usage: {} [OPTIONS]", name);
  for (const auto* option : positionals_of(app)) {
    line += " " + usage_of_positional(*option);
  }
  if (!verbs_with_help(app).empty()) {
    line += app.get_require_subcommand_min() == 0 ? " [VERB]" : " VERB";
  }
  return line + "\n";
}

}  // namespace

std::string help_text(const CLI::Option& option) {
  const auto& known = option.get_default_str();
  return known.empty() ? option.get_description()
                       : fmt::format("{} [default: {}]", option.get_description(), known);
}

std::vector<const CLI::App*> verbs_with_help(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* verb) { return !verb->get_group().empty(); });
}

HelpFormatter::HelpFormatter(std::size_t width, IsMain is_main)
    : width_(std::max(width, kNarrowest)), is_main_(std::move(is_main)) {}

std::string HelpFormatter::entry(const std::string& title, const std::string& text) const {
  const auto head = "  " + title;
  const bool has_own_line = report::display_width(head) + 2 > kTextColumn;
  const auto space = has_own_line ? kTextColumn : kTextColumn - report::display_width(head);
  return head + (has_own_line ? "\n" : "") + std::string(space, ' ') +
         CLI::detail::find_and_replace(report::wrapped(text, width_ - kTextColumn, 0), "\n",
                                       "\n" + std::string(kTextColumn, ' ')) +
         "\n";
}

std::string HelpFormatter::entry(const CLI::Option& option) const {
  return entry(help_title(option), help_text(option));
}

std::string HelpFormatter::positionals(const CLI::App& app) const {
  std::string text;
  for (const auto* option : positionals_of(app)) {
    text += entry(*option);
  }
  return text.empty() ? "" : "\nArguments:\n" + text;
}

std::string HelpFormatter::flags_in_groups(const CLI::App& app) const {
  std::string text;
  for (const auto& group : app.get_groups()) {
    std::string entries;
    for (const auto* option : flags_with_help(app)) {
      entries += option->get_group() == group ? entry(*option) : "";
    }
    text += entries.empty() ? "" : fmt::format("\n{}:\n{}", group, entries);
  }
  return text;
}

std::string HelpFormatter::main_flags(const CLI::App& app, const std::string& name) const {
  const auto all = flags_with_help(app);
  std::vector<const CLI::Option*> main = all;
  if (all.size() > kFewFlags) {
    std::erase_if(main, [this](const CLI::Option* one) { return !is_main_(*one); });
  }
  std::string text;
  for (const auto* option : main) {
    text += entry(*option);
  }
  const auto left = all.size() - main.size();
  const auto rest = left == 0 ? "" : fmt::format("\n`{} --help` has {} more.\n", name, left);
  return text.empty() ? rest : "\nOptions:\n" + text + rest;
}

std::string HelpFormatter::verbs_in_groups(const CLI::App& app) const {
  const auto verbs = verbs_with_help(app);
  std::vector<std::string> groups;
  for (const auto* verb : verbs) {
    if (std::ranges::find(groups, verb->get_group()) == groups.end()) {
      groups.push_back(verb->get_group());
    }
  }
  std::string text;
  for (const auto& group : groups) {
    text += fmt::format("\n{}:\n", group);
    for (const auto* verb : verbs) {
      text += verb->get_group() == group ? entry(verb->get_name(), verb->get_description()) : "";
    }
  }
  return text;
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode mode) const {
  auto text = report::wrapped(app->get_description(), width_, 0) + "\n" + usage(*app, name) +
              positionals(*app) + verbs_in_groups(*app) +
              (mode == CLI::AppFormatMode::Normal ? main_flags(*app, name) : flags_in_groups(*app));
  return app->get_footer().empty() ? text : text + "\n" + app->get_footer() + "\n";
}

}  // namespace assay::cli
