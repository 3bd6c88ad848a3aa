#include "assay/history/csv_series.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/base/text.h"
#include "assay/history/csv_text.h"
#include "assay/history/epochs.h"
#include "assay/history/name_table.h"
#include "assay/history/series.h"
#include "assay/record/metric.h"
#include "assay/stats/quantile.h"

namespace assay::history {
namespace {

enum Column : std::uint8_t {
  kCommit,
  kTime,
  kValue,
  kSeries,
  kMetric,
  kUnit,
  kEnvironment,
  kLow,
  kHigh,
};
constexpr auto kColumnNames = std::to_array<std::string_view>(
    {"commit", "time", "value", "series", "metric", "unit", "environment", "low", "high"});
/// Index of each column in a record, or none.
using Columns = std::array<std::optional<std::size_t>, kColumnNames.size()>;

std::unexpected<Error> fail_at(std::string_view origin, std::int64_t line, const std::string& why) {
  return fail(ErrorCode::kInvalidArgument, fmt::format("{}:{}: {}", origin, line, why));
}

Result<Columns> columns_from_head(const std::vector<std::string>& head) {
  const std::vector<std::string> known(kColumnNames.begin(), kColumnNames.end());
  Columns columns;
  for (std::size_t i = 0; i < head.size(); ++i) {
    const auto found = std::ranges::find(kColumnNames, head[i]);
    if (found == kColumnNames.end()) {
      const auto nearest = head[i].empty() ? "" : find_nearest_name(head[i], known);
      if (!nearest.empty()) {
        return fail(
            ErrorCode::kInvalidArgument,
            fmt::format("unknown column '{}'; did you mean '{}'?", printable(head[i]), nearest));
      }
      continue;
    }
    auto& column = columns[static_cast<std::size_t>(found - kColumnNames.begin())];
    if (column) {
      return fail(ErrorCode::kInvalidArgument, fmt::format("two columns are named '{}'", head[i]));
    }
    column = i;
  }
  for (const auto required : {kCommit, kValue}) {
    if (!columns[required]) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("no column '{}'; the first line names the columns, which are: {}",
                              kColumnNames[required], fmt::join(kColumnNames, ", ")));
    }
  }
  if (columns[kLow].has_value() != columns[kHigh].has_value()) {
    return fail(ErrorCode::kInvalidArgument, "columns 'low' and 'high' go together");
  }
  return columns;
}

/// One row as numbers; texts are views of the record.
struct Row {
  std::optional<std::int64_t> unix_ns;
  double value = 0;
  double low = 0;
  double high = 0;
  bool has_interval = false;
};

Result<double> positive_number(std::string_view name, std::string_view text) {
  const auto value = number_from_text(text);
  if (!value || *value <= 0) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} '{}' is not a number above 0, such as 12.5 or 3e-4", name,
                            printable(text.substr(0, 60))));
  }
  return *value;
}

std::string_view field_of(const std::vector<std::string>& fields, const Columns& columns,
                          Column column) {
  const auto index = columns[column];
  return index ? std::string_view(fields[*index]) : std::string_view();
}

Status read_interval(const std::vector<std::string>& fields, const Columns& columns, Row& row) {
  const auto low = field_of(fields, columns, kLow);
  const auto high = field_of(fields, columns, kHigh);
  if (low.empty() && high.empty()) {
    return {};
  }
  ASSAY_ASSIGN_OR_RETURN(row.low, positive_number("low", low));
  ASSAY_ASSIGN_OR_RETURN(row.high, positive_number("high", high));
  row.has_interval = true;
  if (row.low > row.value || row.value > row.high) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("the value {} does not lie between low {} and high {}", row.value,
                            row.low, row.high));
  }
  return {};
}

Result<Row> row_from_fields(const std::vector<std::string>& fields, const Columns& columns) {
  Row row;
  if (field_of(fields, columns, kCommit).empty()) {
    return fail(ErrorCode::kInvalidArgument, "the commit is empty");
  }
  if (columns[kTime]) {
    const auto time = field_of(fields, columns, kTime);
    row.unix_ns = unix_ns_from_text(time);
    if (!row.unix_ns) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("time '{}' is neither seconds since 1970 nor a date such as "
                              "2026-01-31 or 2026-01-31T09:05:00Z",
                              printable(time.substr(0, 60))));
    }
  }
  ASSAY_ASSIGN_OR_RETURN(row.value, positive_number("value", field_of(fields, columns, kValue)));
  ASSAY_RETURN_IF_ERROR(read_interval(fields, columns, row));
  return row;
}

/// Collects rows; commits are numbers by first appearance until all are known.
class SeriesBuilder {
 public:
  /// `rows`: about how many there will be.
  SeriesBuilder(std::string_view origin, std::size_t rows)
      : origin_(origin), rows_(rows), commits_(rows) {}

  void add(const std::vector<std::string>& fields, const Columns& columns, const Row& row) {
    auto& series = find_series(fields, columns);
    const auto environment = environment_of(series, field_of(fields, columns, kEnvironment));
    const auto commit = commits_.number_of(field_of(fields, columns, kCommit));
    if (commit == times_.size()) {
      times_.push_back(row.unix_ns.value_or(0));
    } else if (row.unix_ns && (times_[commit] == 0 || *row.unix_ns < times_[commit])) {
      times_[commit] = *row.unix_ns;
    }
    series.points.push_back({.position = commit,
                             .commit = {},
                             .value = row.value,
                             .low = row.low,
                             .high = row.high,
                             .has_interval = row.has_interval,
                             .environment = environment});
  }

  std::vector<Series> finish() {
    std::vector<std::uint32_t> order(times_.size());
    std::iota(order.begin(), order.end(), 0U);
    if (!std::ranges::is_sorted(times_)) {
      std::ranges::sort(order, {},
                        [this](std::uint32_t commit) { return std::pair(times_[commit], commit); });
    }
    std::vector<std::int64_t> positions(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      positions[order[i]] = static_cast<std::int64_t>(i);
    }
    std::vector<Series> all;
    for (auto& one : series_) {
      for (auto& point : one.points) {
        const auto commit = static_cast<std::size_t>(point.position);
        point.position = positions[commit];
        point.commit = commits_.names()[commit];
        point.unix_ns = times_[commit];
      }
      join_repeats(one);
      for (auto& series : divided(std::move(one))) {
        set_offsets(series);
        all.push_back(std::move(series));
      }
    }
    return all;
  }

 private:
  /// The index of an environment: most often that of the row before, and there are few.
  static std::uint32_t environment_of(Series& series, std::string_view name) {
    auto& known = series.environments;
    if (!series.points.empty() && known[series.points.back().environment] == name) {
      return series.points.back().environment;
    }
    const auto found = std::ranges::find(known, name);
    const auto index = static_cast<std::uint32_t>(found - known.begin());
    if (found == known.end()) {
      known.emplace_back(name);
    }
    return index;
  }

  Series& find_series(const std::vector<std::string>& fields, const Columns& columns) {
    const auto name = field_of(fields, columns, kSeries);
    const auto metric = field_of(fields, columns, kMetric);
    if (!series_.empty() && name == last_name_ && metric == last_metric_) {
      return series_[last_];
    }
    last_name_ = name;
    last_metric_ = metric;
    last_ = names_.number_of(fmt::format("{}\n{}", name, metric));
    if (last_ == series_.size()) {
      Series series;
      series.name = name.empty() ? origin_ : std::string(name);
      series.metric = metric.empty() ? "value" : std::string(metric);
      series.unit = field_of(fields, columns, kUnit);
      series.references = {""};
      if (const auto* known = find_metric(series.metric)) {
        series.better = known->better;
        series.unit = series.unit.empty() ? std::string(known->unit) : series.unit;
      }
      series.points.reserve(series_.empty() ? rows_ : 0);  // Often there is but one series.
      series_.push_back(std::move(series));
    }
    return series_[last_];
  }

  /// Sorts the points, and joins those of one commit and environment.
  static void join_repeats(Series& series) {
    auto& points = series.points;
    const auto place = [](const Point& point) {
      return std::tuple(point.position, point.environment);
    };
    if (!std::ranges::is_sorted(points, {}, place)) {
      std::ranges::sort(points, {}, place);  // Those of one place become their median anyway.
    }
    std::size_t count = 0;
    for (std::size_t first = 0; first < points.size();) {
      std::size_t end = first + 1;
      while (end < points.size() && place(points[end]) == place(points[first])) {
        ++end;
      }
      if (end - first > 1) {
        std::vector<double> values;
        std::transform(points.begin() + static_cast<std::ptrdiff_t>(first),
                       points.begin() + static_cast<std::ptrdiff_t>(end),
                       std::back_inserter(values), [](const Point& point) { return point.value; });
        points[first].value = stats::median(values);
        points[first].has_interval = false;
      }
      if (count != first) {
        points[count] = std::move(points[first]);
      }
      ++count;
      first = end;
    }
    points.resize(count);
  }

  /// A series for each environment if one comes back after another: they were used side by side.
  static std::vector<Series> divided(Series series) {
    std::vector<Series> parts;
    if (epochs_of(series).size() <= series.environments.size()) {
      parts.push_back(std::move(series));
      return parts;
    }
    for (const auto& environment : series.environments) {
      auto& part = parts.emplace_back();
      part.name = fmt::format("{} ({})", series.name, environment);
      part.metric = series.metric;
      part.unit = series.unit;
      part.better = series.better;
      part.environments = {environment};
      part.references = series.references;
    }
    for (auto& point : series.points) {
      auto& part = parts[point.environment];
      part.points.push_back(std::move(point));
      part.points.back().environment = 0;
    }
    return parts;
  }

  static void set_offsets(Series& series) {
    auto& points = series.points;
    const double reference = std::log(points.front().value);
    for (auto& point : points) {
      point.offset = std::log(point.value) - reference;
      point.low = point.has_interval ? std::log(point.low) - reference : 0;
      point.high = point.has_interval ? std::log(point.high) - reference : 0;
    }
  }

  std::string origin_;
  std::size_t rows_ = 0;
  std::vector<Series> series_;
  NameTable names_;
  NameTable commits_;
  std::vector<std::int64_t> times_;
  std::string last_name_;
  std::string last_metric_;
  std::size_t last_ = 0;
};

}  // namespace

Result<std::vector<Series>> series_from_csv(std::string_view text, std::string_view origin) {
  CsvText csv(text);
  std::vector<std::string> fields;
  const auto head = csv.next(fields);
  if (!head) {
    return fail_at(origin, csv.line(), head.error().message);
  }
  if (!*head) {
    return fail_at(
        origin, 1,
        "the file is empty; its first line has the names of the columns: commit,time,value");
  }
  const auto columns = columns_from_head(fields);
  if (!columns) {
    return fail_at(origin, csv.line(), columns.error().message);
  }
  const std::size_t width = fields.size();
  SeriesBuilder builder(std::filesystem::path(origin).filename().string(),
                        static_cast<std::size_t>(std::ranges::count(text, '\n')));
  bool has_rows = false;
  for (;;) {
    const auto more = csv.next(fields);
    if (!more) {
      return fail_at(origin, csv.line(), more.error().message);
    }
    if (!*more) {
      break;
    }
    if (fields.size() != width) {
      return fail_at(origin, csv.line(),
                     fmt::format("{} fields, but the first line has {}", fields.size(), width));
    }
    const auto row = row_from_fields(fields, *columns);
    if (!row) {
      return fail_at(origin, csv.line(), row.error().message);
    }
    builder.add(fields, *columns, *row);
    has_rows = true;
  }
  if (!has_rows) {
    return fail_at(origin, csv.line(),
                   "no values: a line for each commit is expected after the first");
  }
  return builder.finish();
}

}  // namespace assay::history
