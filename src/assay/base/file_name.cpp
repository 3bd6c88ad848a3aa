#include "assay/base/file_name.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace assay {

std::string file_name_from(std::string_view text, char instead) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_.").contains(c);
  };
  std::string name(text);
  std::ranges::replace_if(name, [&](char c) { return !is_plain(c); }, instead);
  return name.empty() || name.front() == '.' ? instead + name : name;
}

}  // namespace assay
