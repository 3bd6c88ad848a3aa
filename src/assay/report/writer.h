#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/summary.h"

namespace assay {

/// Place of a page within a site, whose pages share styles, scripts and a navigation.
struct SitePlace {
  std::string assets;      ///< Folder of the shared files, as the page names it: "../assets/".
  std::string head;        ///< Elements for the head of the page, after its style.
  std::string navigation;  ///< Elements above the head of the page.
};

/// Choices of the reader; each format uses those that concern it.
struct ReportStyle {
  int width_columns = 120;   ///< Console: no line is longer; the least important columns go first.
  bool is_terminal = false;  ///< Console: colours.
  bool has_accuracy_tables = false;  ///< Console and Markdown: errors of each output.
  bool has_memory_tables = false;    ///< Console and Markdown: the memory of each case by part.
  bool is_verbose = false;           ///< Console: nothing is left out for brevity.
  std::vector<std::string> next_commands;  ///< Console: commands that a reader may want next.
  std::filesystem::path data_folder;       ///< HTML: folder of vega.js; empty: it is searched.
  std::optional<SitePlace> site = {};      ///< HTML: absent for a page that stands alone.
};

/// Writes a summary in one format. Formats only: every number comes from the summary.
/// Errors: kUnavailable when the stream refuses.
using WriteReport = Status (*)(const RunSummary& summary, const ReportStyle& style,
                               std::ostream& out);

struct ReportFormat {
  std::string_view name;       ///< "console"
  std::string_view extension;  ///< ".txt"
  std::string_view title;      ///< One line for `--format list`.
  WriteReport write = nullptr;
};

/// All formats, in the order in which they are listed: those of this module, then added ones.
std::span<const ReportFormat> report_formats();

/// Adds the formats of a feature, whose names must be new. For the start of a program: not
/// thread-safe, and views that report_formats() returned before are invalid.
void add_report_formats(std::span<const ReportFormat> formats);

/// Errors: kNotFound, naming the formats.
Result<ReportFormat> get_report_format(std::string_view name);

/// Calls `write` and checks the stream after it; `format` for messages. Errors: kInternal for what
/// `write` throws, kUnavailable when the stream refuses.
Status write_guarded(std::string_view format, const std::function<Status()>& write,
                     std::ostream& out);

/// Looks the format up, writes and checks the stream.
Status write_report(std::string_view format, const RunSummary& summary, const ReportStyle& style,
                    std::ostream& out);

}  // namespace assay
