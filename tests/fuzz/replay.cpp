// Hands every file of the folders that it is given to a fuzz target, so that the corpus is a test
// of each build. A target that finds a fault ends the process; the last line names the file.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assay/base/fs.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

bool replay(const std::filesystem::path& file) {
  std::puts(file.c_str());
  std::fflush(stdout);
  const auto content = assay::read_file(file);
  if (!content) {
    std::puts(content.error().message.c_str());
    return false;
  }
  // A block of just this size, so that a sanitizer sees the first byte that is read behind it.
  const auto bytes = std::make_unique<std::uint8_t[]>(content->size());
  std::ranges::copy(*content, bytes.get());
  LLVMFuzzerTestOneInput(bytes.get(), content->size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t replayed = 0;
  for (const char* const folder : std::span(argv, static_cast<std::size_t>(argc)).subspan(1)) {
    for (const auto& file : files_in(folder)) {
      if (!replay(file)) {
        return 1;
      }
      ++replayed;
    }
  }
  std::printf("%zu inputs replayed\n", replayed);
  return replayed == 0 ? 1 : 0;
}
