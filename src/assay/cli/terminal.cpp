#include "assay/cli/terminal.h"

#include <asm-generic/ioctls.h>
#include <optional>

#include <sys/ioctl.h>
#include <unistd.h>

namespace assay::cli {

std::optional<int> stdout_width_columns() {
  constexpr int kNarrowest = 40;
  winsize size{};
  if (::isatty(STDOUT_FILENO) != 1 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 ||
      size.ws_col < kNarrowest) {
    return std::nullopt;
  }
  return size.ws_col;
}

}  // namespace assay::cli
