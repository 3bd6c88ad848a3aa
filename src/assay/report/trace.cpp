#include "assay/report/trace.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/record/launch.h"
#include "assay/record/summary.h"
#include "assay/report/format.h"

namespace assay::report {
namespace {

constexpr int kInferences = 1;
constexpr std::array<std::string_view, 4> kTracks = {"inferences", "method",
                                                     "operators and delegates", "inside delegates"};

int track_of(std::string_view kind) {
  if (kind == "method") {
    return 2;
  }
  return kind == "delegate_operator" ? 4 : 3;
}

Json metadata(int process, int track, std::string_view what, const Json& value) {
  Json event = {{"ph", "M"}, {"name", what}, {"pid", process}};
  if (track > 0) {
    event["tid"] = track;
  }
  event["args"] = {{what.ends_with("sort_index") ? "sort_index" : "name", value}};
  return event;
}

Json complete(int process, int track, std::string_view name, std::string_view category,
              std::int64_t start_ns, std::int64_t duration_ns) {
  return {{"ph", "X"},
          {"pid", process},
          {"tid", track},
          {"name", name},
          {"cat", category},
          {"ts", static_cast<double>(start_ns) / 1000},
          {"dur", static_cast<double>(duration_ns) / 1000}};
}

/// One event a line, so that even the text can be read.
class Lines {
 public:
  void add(const Json& event) { text_ += (text_.empty() ? "" : ",\n") + event.dump(); }
  [[nodiscard]] std::string document() const {
    return "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n" + text_ + "\n]}\n";
  }

 private:
  std::string text_;
};

void add_inferences(const ProfileReport& profile, int process, Lines& lines) {
  for (std::size_t i = 0; i < profile.inferences.size(); ++i) {
    const auto& [start_ns, times] = profile.inferences[i];
    lines.add(complete(process, kInferences, fmt::format("inference {}", i), "inference", start_ns,
                       times.bind_ns + times.execute_ns + times.fetch_ns));
    lines.add(complete(process, kInferences, "bind", "phase", start_ns, times.bind_ns));
    const auto execute_ns = start_ns + times.bind_ns;
    lines.add(complete(process, kInferences, "execute", "phase", execute_ns, times.execute_ns));
    lines.add(complete(process, kInferences, "fetch", "phase", execute_ns + times.execute_ns,
                       times.fetch_ns));
  }
}

void add_spans(const ProfileReport& profile, int process, Lines& lines) {
  for (const auto& span : profile.spans) {
    const auto at = static_cast<std::size_t>(span.event);
    if (at >= profile.events.size()) {
      continue;
    }
    const auto& event = profile.events[at];
    auto entry = complete(process, track_of(event.kind), printable(event.name), event.kind,
                          span.start_ns, span.duration_ns);
    entry["args"] = {{"inference", span.iteration},
                     {"median_us", static_cast<double>(event.median_ns) / 1000}};
    if (event.instruction >= 0) {
      entry["args"]["instruction"] = event.instruction;
    }
    lines.add(entry);
  }
}

void add_case(const ProfileReport& profile, const std::string& label, int process, Lines& lines) {
  lines.add(metadata(process, 0, "process_name", printable(label)));
  for (std::size_t i = 0; i < kTracks.size(); ++i) {
    const auto track = static_cast<int>(i) + 1;
    lines.add(metadata(process, track, "thread_name", kTracks.at(i)));
    lines.add(metadata(process, track, "thread_sort_index", track));
  }
  add_inferences(profile, process, lines);
  add_spans(profile, process, lines);
}

}  // namespace

std::string trace_from_cases(const std::vector<CaseSummary>& cases) {
  Lines lines;
  int process = 0;
  for (const auto& summary : cases) {
    if (const auto& profile = summary.profile; profile && !profile->spans.empty()) {
      add_case(*profile, summary.label, ++process, lines);
    }
  }
  return lines.document();
}

}  // namespace assay::report
