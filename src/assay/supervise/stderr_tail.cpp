#include "assay/supervise/stderr_tail.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "assay/base/text.h"

namespace assay {
namespace {

std::string_view without_first_line(std::string_view text) {
  const auto end = text.find('\n');
  return end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
}

std::string_view without_cpuinfo_lines(std::string_view text) {
  while (text.substr(0, text.find('\n')).find(" in cpuinfo: ") != std::string_view::npos) {
    text = without_first_line(text);
  }
  return text;
}

}  // namespace

void StderrTail::append(std::string_view bytes) {
  tail_.append(bytes);
  if (tail_.size() > 4 * kKeptBytes) {
    tail_.erase(0, tail_.size() - 2 * kKeptBytes);
    is_cut_ = true;
  }
}

std::string StderrTail::text() const {
  auto kept = is_cut_ ? std::string_view(tail_) : without_cpuinfo_lines(tail_);
  if (!is_cut_ && kept.size() <= kKeptBytes) {
    return valid_utf8(kept);
  }
  kept = kept.substr(kept.size() - std::min(kept.size(), kKeptBytes));
  const auto from_line = without_first_line(kept);
  return "…" + valid_utf8(from_line.empty() ? kept : from_line);
}

}  // namespace assay
