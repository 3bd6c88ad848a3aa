#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include <sys/mman.h>
#include <unistd.h>

#include "assay/base/result.h"

/// Parts of fuzz targets (*_fuzz.cpp).
namespace assay {

/// One of several parsers that share a fuzz target: an input's first byte selects it, and the rest
/// is its text.
struct FuzzedParser {
  char letter = 0;
  void (*parse)(std::string_view text) = nullptr;
};

/// Runs the parser that the input selects. Returns what LLVMFuzzerTestOneInput has to: -1 keeps an
/// input that selects none out of the corpus.
inline int run_fuzzed_parser(std::span<const FuzzedParser> parsers, const std::uint8_t* data,
                             std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto parser = std::ranges::find_if(parsers, [&](const FuzzedParser& one) {
    return !input.empty() && one.letter == input.front();
  });
  if (parser == parsers.end()) {
    return -1;
  }
  parser->parse(input.substr(1));
  return 0;
}

/// Splits at the first `mark`; all of the text is the first part if there is none.
struct TextParts {
  std::string_view first;
  std::string_view rest;
};
inline TextParts split_at_first(std::string_view text, char mark) {
  const auto end = std::min(text.find(mark), text.size());
  return {text.substr(0, end), text.substr(std::min(end + 1, text.size()))};
}

/// A file in memory for readers that take a path. It is gone with the object.
class FuzzedFile {
 public:
  explicit FuzzedFile(std::string_view content) : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
    ASSAY_CHECK(descriptor_ >= 0);
    ASSAY_CHECK(write(descriptor_, content.data(), content.size()) ==
                static_cast<ssize_t>(content.size()));
  }
  FuzzedFile(const FuzzedFile&) = delete;
  FuzzedFile& operator=(const FuzzedFile&) = delete;
  ~FuzzedFile() { close(descriptor_); }

  [[nodiscard]] std::filesystem::path path() const {
    return "/proc/self/fd/" + std::to_string(descriptor_);
  }

 private:
  int descriptor_;
};

}  // namespace assay
