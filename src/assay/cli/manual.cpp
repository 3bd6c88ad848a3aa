#include "assay/cli/manual.h"

#include <CLI/CLI.hpp>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/cli/help_format.h"

namespace assay::cli {
namespace {

struct Entry {
  std::string_view name;
  std::string_view text;
};

constexpr const char* kDefaultHome = "~/.local/share/assay";

constexpr auto kExitCodes = std::to_array<Entry>({
    {"0", "Done."},
    {"1", "Done, and something failed: a case, its accuracy, a gate."},
    {"2", "The request is wrong."},
    {"3", "An engine, device, toolchain, file or the store cannot be used."},
    {"4", "A bug of Assay."},
    {"5", "No case matched, or all were skipped."},
    {"6", "Inconclusive: the measurements do not decide it."},
    {"124", "A deadline passed."},
    {"130", "Interrupted."},
});

constexpr auto kEnvironment = std::to_array<Entry>({
    {"ASSAY_HOME",
     "Folder of the store, the cache and added engines; ~/.local/share/assay if unset."},
    {"ASSAY_STORE", "Database that holds the results, as --store."},
    {"ASSAY_PYTHON", "Interpreter of the toolchain, as --python."},
    {"ASSAY_PLUGINS", "Plug-ins of recipes and models, separated by colons, as --plugin."},
    {"ASSAY_CACHE_LIMIT", "Size that the cache of artifacts keeps to; 10 GB if unset."},
    {"ASSAY_BUILD_TIMEOUT", "Longest time of a job of the toolchain; 30 minutes if unset."},
    {"ASSAY_PASS_ENV", "Names of further variables that launches get."},
    {"NO_COLOR", "Set to anything: no colours on a terminal."},
});

/// Text that roff sets as it is: backslashes, hyphens, and dots and quotes that open a line.
std::string roff_text(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else if ((c == '.' || c == '\'') && (escaped.empty() || escaped.ends_with('\n'))) {
      escaped += "\\&";
      escaped += c;
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string bold(std::string_view text) { return "\\fB" + roff_text(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff_text(text) + "\\fR"; }

std::string titled(std::string_view title, std::string_view text) {
  return fmt::format(".TP\n{}\n{}\n", title, roff_text(text));
}

std::string section_of_entries(std::string_view title, std::span<const Entry> entries) {
  auto section = fmt::format(".SH {}\n", title);
  for (const auto& entry : entries) {
    section += titled(bold(entry.name), entry.text);
  }
  return section;
}

/// "--recipe NAME ..., -q": as the option is written.
std::string title_of_option(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const auto& name : option.get_snames()) {
    names.push_back(bold("-" + name));
  }
  for (const auto& name : option.get_lnames()) {
    names.push_back(bold("--" + name));
  }
  if (names.empty()) {
    return italic(option.get_name());
  }
  auto title = fmt::format("{}", fmt::join(names, ", "));
  if (option.get_type_size() != 0 && !option.get_type_name().empty()) {
    title += " " + italic(option.get_type_name());
  }
  return title + (option.get_items_expected_max() > 1 ? " ..." : "");
}

std::string text_of_options(const CLI::App& verb) {
  std::string text;
  for (const auto& group : verb.get_groups()) {
    const auto options = verb.get_options([&](const CLI::Option* option) {
      return option->get_group() == group && option != verb.get_help_ptr() &&
             option != verb.get_help_all_ptr();
    });
    const bool is_titled = !options.empty() && group != "Options" && group != "Positionals";
    text += is_titled ? fmt::format(".PP\n{}\n", roff_text(group + ":")) : "";
    for (const auto* option : options) {
      text += titled(title_of_option(*option), help_text(*option));
    }
  }
  return text;
}

std::string usage_of_verb(const CLI::App& verb, const std::string& name) {
  auto usage = bold(name) + " [" + italic("OPTIONS") + "]";
  const auto positionals =
      verb.get_options([](const CLI::Option* option) { return option->get_positional(); });
  for (const auto* option : positionals) {
    const auto word = italic(option->get_name());
    const auto* dots = option->get_items_expected_max() > 1 ? "..." : "";
    usage += option->get_required() ? " " + word + dots : fmt::format(" [{}{}]", word, dots);
  }
  return usage;
}

/// A subsection for a verb, or for each of the verbs below it.
std::string text_of_verb(const CLI::App& verb, const std::string& parent) {
  const auto name = parent + " " + verb.get_name();
  const auto below = verbs_with_help(verb);
  std::string text;
  if (below.empty() || verb.get_require_subcommand_min() == 0) {
    text =
        fmt::format(".SS {}\n{}.\n.PP\n{}\n{}", roff_text(name), roff_text(verb.get_description()),
                    usage_of_verb(verb, name), text_of_options(verb));
  }
  if (const auto example = verb.get_footer(); !example.empty()) {
    text += fmt::format(".PP\n.nf\n{}\n.fi\n", roff_text(example));
  }
  for (const auto* one : below) {
    text += text_of_verb(*one, name);
  }
  return text;
}

std::string list_of_verbs(const CLI::App& app) {
  std::string text = ".SH VERBS\n";
  for (const auto* verb : verbs_with_help(app)) {
    text += titled(bold(verb->get_name()), verb->get_description() + ".");
  }
  return text;
}

}  // namespace

std::string manual_page(const CLI::App& app, const std::string& home) {
  const auto version = app.version();
  auto page = fmt::format(
      ".TH ASSAY 1 \"\" \"{}\" \"User Commands\"\n.nh\n.ad l\n.SH NAME\nassay \\- measure, "
      "evaluate and "
      "conformance-test on-device AI models\n.SH SYNOPSIS\n{} {} [{}]\n.SH DESCRIPTION\n{}\n",
      version.substr(0, version.find('\n')), bold(app.get_name()), italic("VERB"),
      italic("OPTIONS"), roff_text(app.get_description()));
  page +=
      ".SH OPTIONS\n" + text_of_options(app) + list_of_verbs(app) + ".SH OPTIONS OF THE VERBS\n";
  for (const auto* verb : verbs_with_help(app)) {
    page += text_of_verb(*verb, app.get_name());
  }
  page = CLI::detail::find_and_replace(page, roff_text(home), roff_text(kDefaultHome));
  return page + section_of_entries("EXIT STATUS", kExitCodes) +
         section_of_entries("ENVIRONMENT", kEnvironment) +
         ".SH SEE ALSO\nThe guides and the reference of Assay, in docs/ of its sources.\n";
}

}  // namespace assay::cli
