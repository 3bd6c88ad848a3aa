#pragma once

#include "fixedpoint/operations.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/window_walk.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace fixedpoint {

/// Windows over few channels, whose rows are too short to be packed one by one.
///
/// The rows of the image that a row of windows reads are packed whole, with their padding, in a
/// ring. A window is then a copy of a few bytes of each, 16 at a time: more than it needs, which
/// the next copy overwrites.
template <class T>
class WindowLines {
 public:
  WindowLines(const Window& window, const TypedGemmUnit<T>& unit)
      : w_(window),
        unit_(unit),
        pixel_bytes_(std::ptrdiff_t{window.in_channels} * unit.element_bytes),
        run_bytes_(pixel_bytes_ * window.kernel_width),
        window_step_(pixel_bytes_ * window.stride_width) {
    const int columns = (w_.out_width - 1) * w_.stride_width + w_.kernel_width;
    line_bytes_ = pixel_bytes_ * columns;
    read_columns_ = std::clamp(columns - w_.pad_left, 0, w_.in_width);
    if (suits()) {
      padding_.assign(std::size_t(columns) * w_.in_channels, static_cast<T>(w_.padding_value));
    }
  }

  bool suits() const {
    return w_.dilation_width == 1 && w_.dilation_height == 1 && w_.out_width > 1 &&
           run_bytes_ <= kMostRunBytes && !is_pointwise(w_);
  }
  /// Memory for the lines; zero where windows are of another kind.
  std::ptrdiff_t bytes() const { return suits() ? line_bytes_ * w_.kernel_height + kCopy : 0; }
  /// Bytes behind the last of some packed windows that may be overwritten.
  static constexpr std::ptrdiff_t kSlack = 16;

  /// Lines of one walk over pixels in their order.
  class Ring {
   public:
    Ring(const WindowLines& lines, const T* in, std::byte* memory)
        : lines_(lines), in_(in), memory_(memory) {}

    /// Packs the windows of the next pixels, `row_bytes` apart.
    void pack(int windows, Pixel& pixel, std::byte* packed, std::ptrdiff_t row_bytes) {
      for (int i = 0; i < windows; ++i, pixel.next(), packed += row_bytes) {
        if (pixel.image() != image_ || pixel.top() != top_) {
          move_to(pixel);
        }
        lines_.copy_runs(memory_ + pixel.column() * lines_.window_step_, first_line_, packed);
      }
    }

   private:
    void move_to(const Pixel& pixel) {
      const Window& w = lines_.w_;
      const bool is_next = pixel.image() == image_ && pixel.top() > top_;
      const int first = is_next ? std::max(end_, pixel.top()) : pixel.top();
      image_ = pixel.image();
      top_ = pixel.top();
      end_ = top_ + w.kernel_height;
      for (int y = first; y < end_; ++y) {
        lines_.pack_line(in_, pixel, y, memory_ + lines_.line_of(y) * lines_.line_bytes_);
      }
      first_line_ = lines_.line_of(top_);
    }

    const WindowLines& lines_;
    const T* in_;
    std::byte* memory_;
    int image_ = -1;
    int top_ = 0;
    /// Behind the last row of the image that has its line.
    int end_ = 0;
    /// Line of the windows' upper row; those of the rows below it follow, around the ring.
    int first_line_ = 0;
  };

 private:
  static constexpr std::ptrdiff_t kCopy = 16;
  static constexpr std::ptrdiff_t kMostRunBytes = 4 * kCopy;

  int line_of(int y) const { return (y + w_.pad_top) % w_.kernel_height; }

  void pack_line(const T* in, const Pixel& pixel, int y, std::byte* line) const {
    const int columns = static_cast<int>(line_bytes_ / pixel_bytes_);
    if (!pixel.is_row_inside(y) || read_columns_ == 0) {
      unit_.pack(padding_.data(), columns * w_.in_channels, line);
      return;
    }
    const int right = w_.pad_left + read_columns_;
    unit_.pack(padding_.data(), w_.pad_left * w_.in_channels, line);
    unit_.pack(in + pixel.offset(y, 0), read_columns_ * w_.in_channels,
               line + w_.pad_left * pixel_bytes_);
    unit_.pack(padding_.data(), (columns - right) * w_.in_channels, line + right * pixel_bytes_);
  }

  /// Copies a window's runs, from `begin` on: the lines from `first_line` to the last, then those
  /// before it. Sizes in variables of its own, which what is copied cannot be taken to change.
  void copy_runs(const std::byte* begin, int first_line, std::byte* packed) const {
    const std::ptrdiff_t run_bytes = run_bytes_;
    const std::ptrdiff_t line_bytes = line_bytes_;
    const std::byte* end = begin + line_bytes * w_.kernel_height;
    const std::byte* first = begin + line_bytes * first_line;
    for (const std::byte* from = first; from != end; from += line_bytes, packed += run_bytes) {
      copy_run(from, run_bytes, packed);
    }
    for (const std::byte* from = begin; from != first; from += line_bytes, packed += run_bytes) {
      copy_run(from, run_bytes, packed);
    }
  }

  static void copy_run(const std::byte* from, std::ptrdiff_t bytes, std::byte* packed) {
    std::memcpy(packed, from, kCopy);
    for (std::ptrdiff_t i = kCopy; i < bytes; i += kCopy) {
      std::memcpy(packed + i, from + i, kCopy);
    }
  }

  const Window& w_;
  const TypedGemmUnit<T>& unit_;
  std::ptrdiff_t pixel_bytes_;
  /// Neighboring bytes of a window.
  std::ptrdiff_t run_bytes_;
  /// From one window to the next.
  std::ptrdiff_t window_step_;
  std::ptrdiff_t line_bytes_ = 0;
  /// Columns of the image that any window reads.
  int read_columns_ = 0;
  /// A whole line.
  std::vector<T> padding_;
};

}  // namespace fixedpoint
