#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace assay::cli {

/// The description of an option, with its default.
std::string help_text(const CLI::Option& option);

/// Verbs below a command that help lists; those of an empty group are for scripts.
std::vector<const CLI::App*> verbs_with_help(const CLI::App& app);

/// Writes the help of a command in two lengths, wrapped at the width of the terminal: -h has the
/// flags that most people need and --help all of them in groups.
class HelpFormatter final : public CLI::Formatter {
 public:
  using IsMain = std::function<bool(const CLI::Option&)>;

  /// `width`: in columns. `is_main`: whether -h shows a flag.
  HelpFormatter(std::size_t width, IsMain is_main);

  /// CLI11 asks for AppFormatMode::All on --help and for Normal on -h.
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;

 private:
  std::string flags_in_groups(const CLI::App& app) const;
  std::string main_flags(const CLI::App& app, const std::string& name) const;
  std::string positionals(const CLI::App& app) const;
  std::string verbs_in_groups(const CLI::App& app) const;
  std::string entry(const std::string& title, const std::string& text) const;
  std::string entry(const CLI::Option& option) const;

  std::size_t width_;
  IsMain is_main_;
};

}  // namespace assay::cli
