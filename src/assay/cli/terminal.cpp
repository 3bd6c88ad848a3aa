#include "assay/cli/terminal.h"

#include <asm-generic/ioctls.h>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

#include "assay/cli/configured.h"

namespace assay::cli {
namespace {

/// The number in the variable COLUMNS; 0: it has none.
int columns_of_environment() {
  const char* const text = std::getenv("COLUMNS");
  const std::string_view digits = text == nullptr ? "" : text;
  int columns = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), columns);
  return columns;
}

}  // namespace

std::optional<int> terminal_width_columns(int descriptor) {
  constexpr int kNarrowest = 40;
  if (const int asked = columns_of_environment(); asked >= kNarrowest) {
    return asked;
  }
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
