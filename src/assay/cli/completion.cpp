#include "assay/cli/completion.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/cli/completion_values.h"

namespace assay::cli {
namespace {

/// Position of the last word on the command line.
struct Position {
  CLI::App* verb = nullptr;         ///< The innermost verb so far.
  CLI::Option* awaiting = nullptr;  ///< The flag whose value comes next; null: none.
  std::size_t positionals = 0;      ///< Those that the verb has got.
};

CLI::Option* find_flag(CLI::App& verb, std::string_view word) {
  return verb.get_option_no_throw(std::string(word.substr(0, word.find('='))));
}

CLI::App* find_verb(CLI::App& verb, const std::string& name) {
  const auto below =
      verb.get_subcommands([&name](CLI::App* one) { return one->get_name() == name; });
  return below.empty() ? nullptr : below.front();
}

void pass_word(const std::string& word, Position& position) {
  if (position.awaiting != nullptr) {
    position.awaiting = nullptr;
  } else if (word.starts_with('-')) {
    auto* flag = find_flag(*position.verb, word);
    const bool has_value = word.contains('=');
    const bool takes_value = flag != nullptr && flag->get_items_expected_max() > 0;
    position.awaiting = takes_value && !has_value ? flag : nullptr;
  } else if (auto* below = find_verb(*position.verb, word); below != nullptr) {
    position = {.verb = below};
  } else {
    ++position.positionals;
  }
}

Position find_position(CLI::App& app, std::span<const std::string> words) {
  Position position{.verb = &app};
  for (const auto& word : words) {
    pass_word(word, position);
  }
  return position;
}

/// The positional at `index`; the last one takes all further words if it takes several.
CLI::Option* find_positional(CLI::App& verb, std::size_t index) {
  const auto positionals =
      verb.get_options([](CLI::Option* option) { return option->get_positional(); });
  if (index < positionals.size()) {
    return positionals[index];
  }
  const bool is_list = !positionals.empty() && positionals.back()->get_items_expected_max() > 1;
  return is_list ? positionals.back() : nullptr;
}

Completion verbs_below(CLI::App& verb) {
  Completion all;
  const auto is_listed = [](CLI::App* one) { return !one->get_group().empty(); };
  for (auto* below : verb.get_subcommands(is_listed)) {
    all.words.push_back({below->get_name(), below->get_description()});
  }
  return all;
}

Completion flags_of_verb(CLI::App& verb) {
  Completion all;
  for (auto* option : verb.get_options()) {
    for (const auto& name : option->get_lnames()) {
      all.words.push_back({"--" + name, option->get_description()});
    }
  }
  return all;
}

/// Values of an option, each behind `before` and behind the items of the list that `typed` has.
Completion values_behind(CLI::Option& option, std::string before, std::string_view typed) {
  if (option.get_delimiter() != '\0') {
    before += typed.substr(0, typed.rfind(option.get_delimiter()) + 1);
  }
  auto all = values_of_option(option, typed);
  for (auto& word : all.words) {
    word.text.insert(0, before);
  }
  return all;
}

Completion all_words(const Position& position, const std::string& typed) {
  auto& verb = *position.verb;
  if (position.awaiting != nullptr) {
    return values_behind(*position.awaiting, "", typed);
  }
  if (typed.starts_with('-')) {
    const auto equals = typed.find('=');
    auto* flag = equals == std::string::npos ? nullptr : find_flag(verb, typed);
    return flag == nullptr ? flags_of_verb(verb)
                           : values_behind(*flag, typed.substr(0, equals + 1),
                                           std::string_view(typed).substr(equals + 1));
  }
  if (auto* positional = find_positional(verb, position.positionals); positional != nullptr) {
    auto all = values_behind(*positional, "", typed);
    if (position.positionals == 0) {  // A verb below may stand in its place.
      std::ranges::move(verbs_below(verb).words, std::back_inserter(all.words));
    }
    return all;
  }
  return verbs_below(verb);
}

}  // namespace

Completion complete(CLI::App& app, std::span<const std::string> words) {
  if (words.empty()) {
    return verbs_below(app);
  }
  const auto& typed = words.back();
  auto completion = all_words(find_position(app, words.first(words.size() - 1)), typed);
  std::erase_if(completion.words,
                [&typed](const Completion::Word& word) { return !word.text.starts_with(typed); });
  return completion;
}

}  // namespace assay::cli
