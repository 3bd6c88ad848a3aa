#include "features/conform/named_operators.h"

#include <cctype>
#include <regex>
#include <set>
#include <string>
#include <string_view>

namespace assay {
namespace {

/// Lower case, without underscores.
std::string letters_of(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (c != '_') {
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return letters;
}

}  // namespace

std::set<std::string> operators_named(std::string_view text) {
  static const std::regex pattern("(?:aten::|aten\\.|node_)([A-Za-z]\\w*?)(?:_[0-9]+)?(?!\\w)");
  std::set<std::string> names;
  const std::string all(text);
  for (std::sregex_iterator at(all.begin(), all.end(), pattern); at != std::sregex_iterator();
       ++at) {
    names.insert(letters_of((*at)[1].str()));
  }
  return names;
}

std::string operator_stem(std::string_view name) {
  const auto dot = name.find('.');
  const auto packet = dot == std::string_view::npos ? name : name.substr(dot + 1);
  return letters_of(packet.substr(0, packet.find('.')));
}

}  // namespace assay
