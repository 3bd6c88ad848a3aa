// Misbehaves on order, for the tests of spawn: misbehave hog BYTES | flood-out BYTES | flood-err
// BYTES | descriptors. Standard C++ and POSIX only.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace {

/// Touches memory until it has so much, then stays.
int hog(std::size_t bytes) {
  constexpr std::size_t kPieceBytes = 4 << 20;
  std::vector<std::vector<char>> pieces;
  for (std::size_t have = 0; have < bytes; have += kPieceBytes) {
    pieces.emplace_back(kPieceBytes, 'x');
  }
  ::pause();
  return static_cast<int>(pieces.size());
}

int flood(std::FILE* stream, std::size_t bytes) {
  const std::string piece(std::size_t{1} << 16, 'x');
  for (std::size_t done = 0; done < bytes; done += piece.size()) {
    if (std::fwrite(piece.data(), 1, piece.size(), stream) != piece.size()) {
      return EXIT_FAILURE;
    }
  }
  return std::fflush(stream) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/// Which descriptors below 64 are open.
int list_descriptors() {
  constexpr int kHighest = 64;
  for (int fd = 0; fd < kHighest; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) {
      std::printf("%d ", fd);
    }
  }
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  const std::size_t bytes = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  if (what == "hog") {
    return hog(bytes);
  }
  if (what == "flood-out") {
    return flood(stdout, bytes);
  }
  if (what == "flood-err") {
    return flood(stderr, bytes);
  }
  return what == "descriptors" ? list_descriptors() : 2;
}
