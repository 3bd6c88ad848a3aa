#include "completion_scripts.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/cli/completion.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/verb.h"

namespace assay::cli {
namespace {

struct Shell {
  const char* name;
  std::string_view script;  ///< Its name in `completion_scripts`.
};

constexpr auto kShells =
    std::to_array<Shell>({{"bash", "assay.bash"}, {"zsh", "_assay"}, {"fish", "assay.fish"}});

std::vector<std::string> names_of_shells() {
  std::vector<std::string> names;
  std::ranges::transform(kShells, std::back_inserter(names), &Shell::name);
  return names;
}

Result<ExitCode> print_script(const std::string& shell) {
  for (const auto& known : kShells) {
    if (known.name == shell) {
      write_stdout(completion_scripts(known.script));
    }
  }
  return ExitCode::kOk;
}

/// A line that tells whether files may follow, then a line for each word: the word, a tab, its
/// description.
Result<ExitCode> print_completion(const CLI::App& verb, CLI::App& app) {
  const auto words = verb.remaining();
  const std::vector<std::string> typed(words.begin() + (words.empty() ? 0 : 1), words.end());
  const auto completion = complete(app, typed);
  std::string text = completion.has_files ? "files\n" : "words\n";
  for (const auto& word : completion.words) {
    text += word.text + "\t" + word.description.substr(0, word.description.find('\n')) + "\n";
  }
  write_stdout(text);
  return ExitCode::kOk;
}

}  // namespace

Execute declare_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  app.add_option("shell", *shell, "Shell to print the script for")
      ->required()
      ->check(CLI::IsMember(names_of_shells()));
  return [shell] { return print_script(*shell); };
}

Execute declare_complete(CLI::App& app) {
  app.prefix_command();  // The words are a command line, not flags of this verb.
  app.set_help_flag();
  app.set_help_all_flag();
  return [&app] { return print_completion(app, *app.get_parent()); };
}

}  // namespace assay::cli
