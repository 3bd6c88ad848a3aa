#include "features/repository/repository_skeleton.h"

#include <CLI/CLI.hpp>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/log.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/base/shell.h"
#include "assay/cli/config_view.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/interrupt.h"
#include "assay/cli/verb.h"
#include "assay/config/config_file.h"
#include "assay/config/config_key.h"
#include "assay/config/config_value.h"
#include "assay/config/configuration.h"

namespace assay::cli {
namespace {

struct InitOptions {
  bool takes_defaults = false;
  bool is_show = false;
  bool is_reset = false;
  std::vector<std::string> values;   ///< KEY=VALUE
  std::vector<std::string> removed;  ///< Keys.
  std::string repository;
  std::string out;
  std::string format = "console";
};

Status set_value(const std::string& text, Json& document) {
  const auto equals = text.find('=');
  if (equals == std::string::npos) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("--set {}: write KEY=VALUE, such as threads=1", text));
  }
  const auto key = get_config_key(text.substr(0, equals));
  if (!key) {
    return fail_with_context(key.error(), "--set");
  }
  auto value = config_value_from_text(**key, text.substr(equals + 1));
  if (!value) {
    return fail_with_context(std::move(value).error(), "--set");
  }
  document[std::string((*key)->name)] = *std::move(value);
  return {};
}

Status unset_value(const std::string& name, Json& document) {
  const auto key = get_config_key(name);
  if (!key) {
    return fail_with_context(key.error(), "--unset");
  }
  document.erase(name);
  return {};
}

Status apply_edits(const InitOptions& options, Json& document) {
  for (const auto& text : options.values) {
    ASSAY_RETURN_IF_ERROR(set_value(text, document));
  }
  for (const auto& name : options.removed) {
    ASSAY_RETURN_IF_ERROR(unset_value(name, document));
  }
  return {};
}

/// A question on the terminal, again after a wrong answer; an empty answer keeps what is there.
Status ask_for_value(const ConfigKey& key, Json& document) {
  const auto name = std::string(key.name);
  const auto current =
      document.contains(name) ? text_from_config_value(document[name]) : std::string(key.built_in);
  while (true) {
    write_stderr(fmt::format("{} ({}) [{}]: ", key.meaning, name, current));
    std::string answer;
    if (!std::getline(std::cin, answer) || is_interrupted()) {
      return fail(ErrorCode::kInvalidArgument,
                  "the questions were not answered; nothing is changed");
    }
    const auto value = answer.empty() ? Result<Json>(Json()) : config_value_from_text(key, answer);
    if (value) {
      if (!value->is_null()) {
        document[name] = *value;
      }
      return {};
    }
    log_line(LogLevel::kError, value.error().message);
  }
}

bool is_at_terminal() { return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1; }

Status ask_for_values(Json& document) {
  if (!is_at_terminal()) {
    return fail(ErrorCode::kInvalidArgument,
                "there is no terminal to ask on: --yes takes the built-in values, --set KEY=VALUE "
                "sets one, --show prints all");
  }
  for (const auto& key : config_keys()) {
    if (key.is_asked) {
      ASSAY_RETURN_IF_ERROR(ask_for_value(key, document));
    }
  }
  return {};
}

Status show_configuration(const InitOptions& options) {
  const auto sources = sources_of_process();
  ASSAY_ASSIGN_OR_RETURN(const auto read, load_configuration(sources));
  if (options.format == "json") {
    print_json(document_from_configuration(read, sources.user_file), 2);
  } else {
    print_out("{}", console_from_configuration(read, sources.user_file));
  }
  return {};
}

Status save(const std::filesystem::path& file, const Json& document) {
  std::error_code error;
  const bool is_new = !std::filesystem::exists(file, error);
  auto written = write_config_file(file, document);
  if (!written) {
    return fail(written.error().code,
                written.error().message + "; XDG_CONFIG_HOME chooses another folder");
  }
  log_line(LogLevel::kInfo, fmt::format("{} {}", is_new ? "wrote" : "changed", file.string()));
  return {};
}

/// Writes what differs from the file, so that a second call changes nothing.
Result<ExitCode> write_configuration(const InitOptions& options) {
  const auto file = user_config_file();
  ASSAY_ASSIGN_OR_RETURN(const auto before, read_config_file(file, ConfigScope::kUser));
  auto document = before;
  ASSAY_RETURN_IF_ERROR(apply_edits(options, document));
  const bool has_edits = !options.values.empty() || !options.removed.empty();
  if (!has_edits && !options.takes_defaults) {
    ASSAY_RETURN_IF_ERROR(ask_for_values(document));
  }
  std::error_code error;
  if (document != before || !std::filesystem::exists(file, error)) {
    ASSAY_RETURN_IF_ERROR(save(file, document));
  }
  ASSAY_RETURN_IF_ERROR(show_configuration(options));
  if (!has_edits && options.format == "console") {
    write_stdout(
        "\nnext:\n  assay doctor       checks the installation\n"
        "  assay calibrate    measures the smallest difference that this machine can detect\n");
  }
  return ExitCode::kOk;
}

Result<ExitCode> reset_configuration() {
  ASSAY_ASSIGN_OR_RETURN(const auto aside, move_config_aside(user_config_file()));
  print_out("{}\n", aside.empty() ? fmt::format("{} does not exist", user_config_file().string())
                                  : fmt::format("the configuration is now {}; stores and caches "
                                                "are as they were",
                                                aside.string()));
  return ExitCode::kOk;
}

Result<ExitCode> write_repository_file(const InitOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto skeleton, make_repository_skeleton(options.repository));
  const auto file = options.out.empty() ? skeleton.engine + ".json" : options.out;
  std::error_code error;
  if (std::filesystem::exists(file, error)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' exists; remove it, or choose another file with --out", file));
  }
  ASSAY_RETURN_IF_ERROR(write_file_atomically(file, skeleton.text));
  const auto word = shell_word(file);
  print_out("wrote {}: {}\n\nnext:\n  assay engine build {} HEAD\n", file, skeleton.how_built,
            word);
  return ExitCode::kOk;
}

/// One request at a time. Errors: kInvalidArgument, naming those that were made.
Status check_requests(const InitOptions& options) {
  std::vector<std::string_view> requests;
  const auto note = [&requests](bool is_made, std::string_view flag) {
    if (is_made) {
      requests.push_back(flag);
    }
  };
  note(options.is_show, "--show");
  note(options.is_reset, "--reset");
  note(!options.repository.empty(), "--repository");
  const bool is_other = !requests.empty();
  note(is_other && options.takes_defaults, "--yes");
  note(is_other && !options.values.empty(), "--set");
  note(is_other && !options.removed.empty(), "--unset");
  return requests.size() < 2
             ? Status()
             : fail(ErrorCode::kInvalidArgument,
                    fmt::format("{} exclude each other", fmt::join(requests, " and ")));
}

Result<ExitCode> execute_init(const InitOptions& options) {
  ASSAY_RETURN_IF_ERROR(check_requests(options));
  if (!options.repository.empty()) {
    return write_repository_file(options);
  }
  if (options.is_reset) {
    return reset_configuration();
  }
  if (options.is_show) {
    ASSAY_RETURN_IF_ERROR(show_configuration(options));
    return ExitCode::kOk;
  }
  return write_configuration(options);
}

}  // namespace

Execute declare_init(CLI::App& app) {
  auto options = std::make_shared<InitOptions>();
  app.add_flag("--yes,-y", options->takes_defaults,
               "Ask nothing: write a configuration in which the built-in values hold");
  app.add_flag("--show", options->is_show, "Print each value with its origin and change nothing");
  app.add_option("--set", options->values,
                 "Set a key (docs/reference/configuration.md), such as threads=1");
  app.add_option("--unset", options->removed, "Remove a key");
  app.add_flag("--reset", options->is_reset,
               "Move the configuration aside; stores and caches stay");
  auto* repository =
      app.add_option("--repository", options->repository,
                     "Write a file for the builds of a repository: of a folder, or of a URL");
  app.add_option("--out", options->out,
                 "Repository file to write [default: the repository's name with .json]")
      ->needs(repository);
  app.add_option("--format", options->format, "Format of the values: console or json")
      ->capture_default_str()
      ->check(CLI::IsMember({"console", "json"}));
  return [options] { return execute_init(*options); };
}

}  // namespace assay::cli
