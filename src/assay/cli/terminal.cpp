#include "assay/cli/terminal.h"

#include <asm-generic/ioctls.h>
#include <cstdlib>
#include <optional>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

#include "assay/cli/configured.h"

namespace assay::cli {

std::optional<int> terminal_width_columns(int descriptor) {
  constexpr int kNarrowest = 40;
  winsize size{};
  if (::isatty(descriptor) != 1 || ::ioctl(descriptor, TIOCGWINSZ, &size) != 0 ||
      size.ws_col < kNarrowest) {
    return std::nullopt;
  }
  return size.ws_col;
}

bool can_redraw(int descriptor) {
  const char* const kind = std::getenv("TERM");
  return ::isatty(descriptor) == 1 && (kind == nullptr || std::string_view(kind) != "dumb");
}

bool has_colour(int descriptor) {
  return can_redraw(descriptor) && configuration().text("colour") != "never";
}

}  // namespace assay::cli
