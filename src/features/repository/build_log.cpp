#include "features/repository/build_log.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string>
#include <string_view>

#include "assay/base/text.h"

namespace assay {
namespace {

constexpr std::streamoff kTailBytes = std::streamoff{64} << 10;
constexpr std::size_t kMostBytes = 160;

bool names_error(std::string_view line) {
  constexpr std::string_view kWord = "error";
  return !std::ranges::search(line, kWord, {}, [](unsigned char letter) {
            return static_cast<char>(std::tolower(letter));
          }).empty();
}

void erase_all(std::string& text, const std::string& part) {
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at)) {
    text.erase(at, part.size());
  }
}

}  // namespace

std::string fault_in_log(const std::filesystem::path& log, const std::filesystem::path& folder) {
  std::ifstream file(log, std::ios::binary | std::ios::ate);
  file.seekg(std::max<std::streamoff>(0, std::streamoff{file.tellg()} - kTailBytes));
  std::string fault;
  for (std::string line; std::getline(file, line);) {
    if (names_error(line)) {
      fault = line;
      break;
    }
    if (line.find_first_not_of(" \t\r") != std::string::npos) {
      fault = line;
    }
  }
  erase_all(fault, folder.string() + "/");
  fault = printable(fault);
  return fault.size() <= kMostBytes ? fault : valid_utf8(fault.substr(0, kMostBytes)) + "…";
}

}  // namespace assay
