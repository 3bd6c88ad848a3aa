#include "assay/store/store_files.h"

#include <filesystem>
#include <system_error>

namespace assay {

void remove_store_files(const std::filesystem::path& file) {
  for (const auto* ending : {"", "-wal", "-shm", "-runs"}) {
    std::error_code ignored;
    std::filesystem::remove(file.string() + ending, ignored);
  }
}

}  // namespace assay
