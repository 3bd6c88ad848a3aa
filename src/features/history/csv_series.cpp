#include "features/history/csv_series.h"

#include "features/history/csv_text.h"
#include "features/history/epochs.h"
#include "features/history/name_table.h"
#include "features/history/series.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
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

#include "assay/base/enum_names.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/base/text.h"
#include "assay/record/metric.h"
#include "assay/record/metric_scale.h"
#include "assay/record/unit.h"
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
  kBetter,
  kEnvironment,
  kLow,
  kHigh,
};
constexpr auto kColumnNames =
    std::to_array<std::string_view>({"commit", "time", "value", "series", "metric", "unit",
                                     "better", "environment", "low", "high"});
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

Result<double> number_of(std::string_view name, std::string_view text) {
  if (text.empty()) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("the {} is empty", name));
  }
  const auto value = number_from_text(text);
  if (!value) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} '{}' is not a number, such as 12.5 or 3e-4", name,
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
  ASSAY_ASSIGN_OR_RETURN(row.low, number_of("low", low));
  ASSAY_ASSIGN_OR_RETURN(row.high, number_of("high", high));
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
  ASSAY_ASSIGN_OR_RETURN(row.value, number_of("value", field_of(fields, columns, kValue)));
  ASSAY_RETURN_IF_ERROR(read_interval(fields, columns, row));
  return row;
}

constexpr std::string_view kPerSecond = "/s";

bool is_rate(std::string_view unit) { return unit.ends_with(kPerSecond); }

/// A unit that no table has: of "MB/s" and its kin more is better, of others nobody knows. A rate
/// keeps the unit of its numerator, if that is known.
Unit unknown_unit(std::string_view name) {
  Unit unit{.name = name, .kept = name, .better = is_rate(name) ? Better::kHigher : Better::kNone};
  if (is_rate(name)) {
    const auto* counted = find_unit(name.substr(0, name.size() - kPerSecond.size()));
    unit.kept = counted == nullptr ? name : counted->kept;
    unit.factor = counted == nullptr ? 1 : counted->factor;
  }
  return unit;
}

Unit unit_of(std::string_view name) {
  const auto* known = find_unit(name);
  return known == nullptr ? unknown_unit(name) : *known;
}

/// True if numbers in one can be brought to the other.
bool is_same_quantity(const Unit& a, const Unit& b) {
  return a.kept == b.kept && is_rate(a.name) == is_rate(b.name);
}

/// A series while its rows come.
struct Growing {
  Series series;
  Unit unit;                          ///< `name` and `kept` are views of the series' unit.
  std::optional<MetricScale> scale;   ///< Absent: unknown, and the values decide.
  std::optional<Better> told_better;  ///< Direction that the column names.

  void put_definition() {
    const auto* known = find_metric(series.metric);
    if (known != nullptr && series.unit.empty()) {
      series.unit = known->unit;
    }
    unit = unit_of(series.unit);
    if (known != nullptr) {
      scale = scale_of(*known);
    } else if (find_unit(series.unit) != nullptr || is_rate(series.unit)) {
      scale = unit.scale;
    }
    series.better = told_better.value_or(known == nullptr ? unit.better : known->better);
  }

  /// The unit is that of the first row that has one, and of those before it, too.
  void take_unit(std::string_view name) {
    if (series.unit.empty() && !name.empty()) {
      series.unit = name;
      put_definition();
    }
  }
};

/// Collects rows; commits are numbers by first appearance until all are known.
class SeriesBuilder {
 public:
  /// `rows`: about how many there will be.
  SeriesBuilder(std::string_view origin, std::size_t rows)
      : origin_(origin), rows_(rows), commits_(rows) {}

  /// Errors: kInvalidArgument, and the row is no point.
  Status add(const std::vector<std::string>& fields, const Columns& columns, Row row) {
    auto& growing = find_series(fields, columns);
    ASSAY_RETURN_IF_ERROR(fit(fields, columns, growing, row));
    auto& series = growing.series;
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
    return {};
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
    for (auto& growing : series_) {
      auto& one = growing.series;
      if (one.points.empty()) {
        continue;
      }
      one.is_ratio = is_ratio(growing);
      for (auto& point : one.points) {
        const auto commit = static_cast<std::size_t>(point.position);
        point.position = positions[commit];
        point.commit = commits_.names()[commit];
        point.unix_ns = times_[commit];
      }
      join_repeats(one);
      for (auto& series : divided_by_environment(std::move(one))) {
        set_offsets(series);
        all.push_back(std::move(series));
      }
    }
    return all;
  }

 private:
  /// Brings a row to the unit of its series. Errors: kInvalidArgument.
  static Status fit(const std::vector<std::string>& fields, const Columns& columns,
                    Growing& growing, Row& row) {
    const auto name = field_of(fields, columns, kUnit);
    growing.take_unit(name);
    const auto unit = name.empty() ? growing.unit : unit_of(name);
    if (!is_same_quantity(unit, growing.unit)) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("the unit is '{}', and that of the series '{}'", printable(name),
                              printable(growing.series.unit)));
    }
    const double factor = unit.factor / growing.unit.factor;
    for (auto* const number : {&row.value, &row.low, &row.high}) {
      *number *= factor;
    }
    if (growing.scale == MetricScale::kRatio && row.value <= 0) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("the value {} is not above 0, as a number in '{}' is", row.value,
                              printable(growing.series.unit)));
    }
    return fit_better(field_of(fields, columns, kBetter), growing);
  }

  static Status fit_better(std::string_view text, Growing& growing) {
    if (text.empty()) {
      return {};
    }
    const auto better = enum_from_name<Better>(text);
    if (!better) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("better '{}' is none of lower, higher and none",
                              printable(text.substr(0, 60))));
    }
    if (const auto& told = growing.told_better; told && *told != *better) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("better is '{}', and '{}' in an earlier row of the series", text,
                              name_of(*told)));
    }
    growing.told_better = *better;
    growing.series.better = *better;
    return {};
  }

  /// Rows that came before the unit was known may have what a ratio cannot have.
  static bool is_ratio(const Growing& growing) {
    return growing.scale.value_or(MetricScale::kRatio) == MetricScale::kRatio &&
           std::ranges::all_of(growing.series.points,
                               [](const Point& point) { return point.value > 0; });
  }

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

  Growing& find_series(const std::vector<std::string>& fields, const Columns& columns) {
    const auto name = field_of(fields, columns, kSeries);
    const auto metric = field_of(fields, columns, kMetric);
    if (!series_.empty() && name == last_name_ && metric == last_metric_) {
      return series_[last_];
    }
    last_name_ = name;
    last_metric_ = metric;
    last_ = names_.number_of(fmt::format("{}\n{}", name, metric));
    if (last_ == series_.size()) {
      auto& growing = series_.emplace_back();
      auto& series = growing.series;
      series.name = name.empty() ? origin_ : std::string(name);
      series.metric = metric.empty() ? "value" : std::string(metric);
      series.references = {""};
      growing.put_definition();
      series.points.reserve(series_.size() == 1 ? rows_ : 0);  // Often there is but one series.
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

  static void set_offsets(Series& series) {
    const auto scale = series.is_ratio ? MetricScale::kRatio : MetricScale::kDifference;
    const double reference = series.points.front().value;
    for (auto& point : series.points) {
      point.offset = offset_between(scale, point.value, reference).value_or(0);
      const auto low = offset_between(scale, point.low, reference);
      const auto high = offset_between(scale, point.high, reference);
      point.has_interval = point.has_interval && low && high;
      point.low = point.has_interval ? *low : 0;
      point.high = point.has_interval ? *high : 0;
    }
  }

  std::string origin_;
  std::size_t rows_ = 0;
  std::deque<Growing> series_;  // Its views stay.
  NameTable names_;
  NameTable commits_;
  std::vector<std::int64_t> times_;
  std::string last_name_;
  std::string last_metric_;
  std::size_t last_ = 0;
};

/// Rows that are no points. An empty value is none of the wrong ones: nothing was measured.
struct RefusedRows {
  struct Reason {
    std::int64_t line = 0;
    std::string why;
  };

  void add(const Reason& reason, bool is_empty) {
    first = first ? first : reason;
    if (is_empty) {
      ++empty;
    } else {
      ++wrong;
      first_wrong = first_wrong ? first_wrong : reason;
    }
  }

  /// Errors: kInvalidArgument where these are all rows, or most of those with a value.
  [[nodiscard]] Status check(std::string_view origin, std::size_t rows) const {
    if (first && rows == wrong + empty) {
      return fail_at(origin, first->line, first->why);
    }
    if (first_wrong && 2 * wrong > rows - empty) {
      return fail_at(
          origin, first_wrong->line,
          fmt::format("{}; {} of the {} rows with a value are no points for such reasons",
                      first_wrong->why, wrong, rows - empty));
    }
    return {};
  }

  std::size_t wrong = 0;
  std::size_t empty = 0;
  std::optional<Reason> first;
  std::optional<Reason> first_wrong;
};

}  // namespace

Result<CsvSeries> series_from_csv(std::string_view text, std::string_view origin) {
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
  CsvSeries found;
  std::size_t rows = 0;
  const auto add = [&]() -> Status {
    if (fields.size() != width) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{} fields, but the first line has {}", fields.size(), width));
    }
    ASSAY_ASSIGN_OR_RETURN(const auto row, row_from_fields(fields, *columns));
    return builder.add(fields, *columns, row);
  };
  RefusedRows refused;
  for (;; ++rows) {
    const auto more = csv.next(fields);
    if (!more) {
      return fail_at(origin, csv.line(), more.error().message);
    }
    if (!*more) {
      break;
    }
    if (const auto status = add(); !status) {
      const bool is_empty = fields.size() == width && field_of(fields, *columns, kValue).empty();
      refused.add({csv.line(), status.error().message}, is_empty);
    }
  }
  if (rows == 0) {
    return fail_at(origin, csv.line(),
                   "no values: a line for each commit is expected after the first");
  }
  ASSAY_RETURN_IF_ERROR(refused.check(origin, rows));
  found.rows_without_point = refused.wrong + refused.empty;
  if (const auto& first = refused.first) {
    found.first_reason = fmt::format("line {}: {}", first->line, first->why);
  }
  found.series = builder.finish();
  return found;
}

}  // namespace assay::history
