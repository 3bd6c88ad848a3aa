#include "features/register_features.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <exception>
#include <expected>
#include <fmt/format.h>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <signal.h>
#include <unistd.h>

#include "assay/base/abandoned_folders.h"
#include "assay/base/limits.h"
#include "assay/base/log.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/cli/build_info.h"
#include "assay/cli/campaign_setup.h"
#include "assay/cli/configured.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/explain_arguments.h"
#include "assay/cli/help_format.h"
#include "assay/cli/help_layout.h"
#include "assay/cli/interrupt.h"
#include "assay/cli/terminal.h"
#include "assay/cli/user_home.h"
#include "assay/cli/verb.h"
#include "assay/cli/words_of_flags.h"
#include "assay/config/configuration.h"

namespace assay::cli {
namespace {

constexpr int kHelpWidth = 100;  // Where the terminal's is not known.

int finish(const Result<ExitCode>& result) {
  if (result) {
    const auto written = check_stdout();
    if (written) {
      return static_cast<int>(*result);
    }
    log_line(LogLevel::kError, written.error().message);
    return static_cast<int>(exit_code_from_error(written.error().code));
  }
  const auto code = result.error().code;
  // A terminal interrupts the programs that a verb has started as well, and their death is no
  // fault.
  const bool is_death = code == ErrorCode::kUnavailable || code == ErrorCode::kCrashed;
  log_line(LogLevel::kError,
           is_interrupted() && is_death ? std::string("interrupted") : result.error().message);
  // Waits that an interrupt cuts short fail as if their time were over.
  const bool is_cut_short = is_interrupted() && (is_death || code == ErrorCode::kTimeout);
  return static_cast<int>(is_cut_short ? ExitCode::kInterrupted : exit_code_from_error(code));
}

/// Prints what was asked for instead of a verb's work, such as help, or why the arguments are
/// wrong.
int finish_parse(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream help;
  std::ostringstream ignored;
  const int code = app.exit(error, help, ignored);
  write_stdout(help.view());
  if (code == 0) {
    return finish(ExitCode::kOk);
  }
  for (const auto& line : explain_arguments(app, error)) {
    log_line(LogLevel::kError, line);
  }
  return static_cast<int>(ExitCode::kUsage);
}

std::string version_text() {
  const auto& info = build_info();
  return fmt::format("assay {}\ncommit {}\nbuilt by {}, {}{}{}", info.version, info.commit,
                     info.compiler, info.build_type, info.target.empty() ? "" : ", ", info.target);
}

/// The verb that a command line names; null: none, or an unknown one.
const Verb* find_verb(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  const auto found = std::ranges::find(all_verbs(), name, &Verb::name);
  return found == all_verbs().end() ? nullptr : &*found;
}

/// Reads the configuration for a verb. An error is that of a verb that needs one.
Status configure(const Verb* verb) {
  const auto use = verb == nullptr ? ConfigUse::kOptional : verb->config_use;
  if (use == ConfigUse::kNone) {
    return {};
  }
  auto read = load_configuration(sources_of_process());
  if (!read) {
    return use == ConfigUse::kNeeded ? Status(std::unexpected(read.error())) : Status();
  }
  use_configuration(*std::move(read));
  return {};
}

/// A flag of a list takes one word each time, so that it takes no argument behind it: `--recipe A,B
/// MODEL`, `--label a=1 --label b=2 MODEL`.
void take_one_word_each(CLI::App& app) {
  for (auto* option : app.get_options()) {
    if (!option->get_positional() && option->get_items_expected_max() > 1) {
      option->allow_extra_args(false);
    }
  }
  for (auto* sub : app.get_subcommands({})) {
    take_one_word_each(*sub);
  }
}

/// The spec that a verb makes of its flags is called like the verb.
Result<ExitCode> in_words_of(const CLI::App& verb, Result<ExitCode> result) {
  if (!result) {
    auto& message = result.error().message;
    message = in_words_of_flags(message, "assay " + verb.get_name());
  }
  return result;
}

int run_program(int argc, char** argv) {
  register_features();
  const auto* const asked = find_verb(argc, argv);
  auto configured = settle_home();
  if (configured) {
    configured = configure(asked);
  }
  CLI::App app(
      "Measures, evaluates and conformance-tests on-device AI models on every inference engine.",
      "assay");
  app.set_version_flag("--version", version_text(), "Print version, commit and build, and exit");
  app.require_subcommand(1);
  app.set_help_flag("-h", "Show the flags that most people need");
  app.set_help_all_flag("--help", "Show all flags");
  app.formatter(std::make_shared<HelpFormatter>(
      terminal_width_columns(STDOUT_FILENO).value_or(kHelpWidth), is_main_flag));
  std::vector<std::pair<CLI::App*, Execute>> verbs;
  for (const auto& verb : all_verbs()) {
    auto* sub = app.add_subcommand(verb.name, verb.help)->group(verb.group);
    verbs.emplace_back(sub, verb.declare(*sub));
    lay_out_help(*sub, verb.example);
  }
  if (configured) {
    configured = set_configured_defaults(app);
  }
  take_one_word_each(app);  // Defaults may be whole lists.
  if (argc == 1) {
    write_stderr(app.help());
    return static_cast<int>(ExitCode::kUsage);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return finish_parse(app, error);
  }
  if (!configured) {
    return finish(std::unexpected(configured.error()));
  }
  remove_abandoned_folders();
  for (const auto& [sub, execute] : verbs) {
    if (sub->parsed()) {
      return finish(in_words_of(*sub, execute()));
    }
  }
  return static_cast<int>(ExitCode::kUsage);
}

}  // namespace
}  // namespace assay::cli

int main(int argc, char** argv) {
  // Ignored by whoever started us, it would hide the ends of our children.
  ::signal(SIGCHLD, SIG_DFL);
  assay::ignore_signals_of_writes();
  assay::cli::catch_interrupts();
  assay::cli::remember_argv(argc, argv);
  using assay::cli::ExitCode;
  try {
    return assay::cli::run_program(argc, argv);
  } catch (const std::bad_alloc&) {
    assay::log_line(assay::LogLevel::kError, assay::text_from_errno(ENOMEM));
    return static_cast<int>(ExitCode::kUnavailable);
  } catch (const std::system_error& error) {
    // A thread that cannot be started, above all.
    assay::log_line(assay::LogLevel::kError,
                    error.what() + assay::hint_at_limits(error.code().value()));
    return static_cast<int>(ExitCode::kUnavailable);
  } catch (const std::exception& error) {
    // Nothing should be thrown this far: whatever is, is a bug of Assay.
    assay::log_line(assay::LogLevel::kError, fmt::format("internal error: {}", error.what()));
    return static_cast<int>(ExitCode::kInternal);
  }
}
