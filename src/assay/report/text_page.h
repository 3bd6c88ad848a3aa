#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "assay/report/format.h"
#include "assay/report/text_table.h"
#include "assay/report/writer.h"

namespace assay::report {

/// Collects a page for terminals: every line goes through here, so none is longer than the style
/// allows.
class TextPage {
 public:
  explicit TextPage(const ReportStyle& style)
      : width_(static_cast<std::size_t>(std::max(style.width_columns, 40))),
        has_colour_(style.is_terminal) {}

  void line(std::string_view text, std::size_t indent = 0, std::size_t hanging = 0) {
    const std::string space(indent, ' ');
    out_ += space + wrapped(text, width_ - indent, indent + hanging) + '\n';
  }
  /// A line that is short enough, its spaces kept.
  void line_as_is(std::string_view text, std::size_t indent = 0) {
    out_ += std::string(indent, ' ') + std::string(text) + '\n';
  }
  void heading(const std::string& text) {
    out_ += "\n" + coloured(wrapped(text, width_, 2), "1", has_colour_) + '\n';
  }
  /// The run, and the commands that go on from it.
  void footer(const std::string& run, const ReportStyle& style) {
    blank();
    line("run " + run);
    for (const auto& command : style.next_commands) {
      line(command, 2, 4);
    }
  }
  void blank() { out_ += '\n'; }
  std::vector<std::string> table(const TextTable& table) {
    auto layout = table.lay_out(width_, has_colour_);
    out_ += layout.text;
    return layout.dropped;
  }
  [[nodiscard]] const std::string& text() const { return out_; }

 private:
  std::size_t width_;
  bool has_colour_;
  std::string out_;
};

}  // namespace assay::report
