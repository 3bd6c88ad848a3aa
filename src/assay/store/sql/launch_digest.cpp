#include "assay/store/sql/launch_digest.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/base/sha256.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/rows.h"
#include "assay/store/sql/trace_orders.h"

namespace assay::sql {
namespace {

constexpr auto kSealedRows = std::to_array<std::string_view>({
    "SELECT * FROM launch WHERE id = ?",
    "SELECT * FROM sample_block WHERE launch = ? ORDER BY metric, step, phase",
    "SELECT * FROM op_event WHERE launch = ? ORDER BY position",
});
constexpr std::string_view kSealedTraces = "SELECT trace.*, channel FROM trace WHERE launch = ?";

// Columns that say nothing of the launch: its seal, and its row number in PostgreSQL.
constexpr auto kUnsealedColumns = std::to_array<std::string_view>({"digest", "rowid"});

/// A fraction of a second.
constexpr std::size_t kMostHashedBytes = std::size_t{128} << 20;

struct SealedTrace {
  std::string channel;
  std::string row;
};

struct SealedLaunch {
  Sha256 rows;  ///< All but the traces.
  std::vector<SealedTrace> traces;
};

// "name:length:value;" of each of the first columns: no two rows give one text.
void append_row(const Statement& row, int columns, std::string& text) {
  for (int i = 0; i < columns; ++i) {
    if (row.is_null(i) ||
        std::ranges::find(kUnsealedColumns, row.column_name(i)) != kUnsealedColumns.end()) {
      continue;
    }
    const auto value = row.text(i);
    text += fmt::format("{}:{}:", row.column_name(i), value.size());
    text += value;
    text += ';';
  }
  text += '\n';
}

Result<SealedLaunch> read_sealed(Connection& connection, const std::string& launch) {
  SealedLaunch sealed;
  for (const auto sql : kSealedRows) {
    ASSAY_ASSIGN_OR_RETURN(auto rows, connection.prepare(sql, launch));
    while (true) {
      ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
      if (!has_row) {
        break;
      }
      std::string text;
      append_row(rows, rows.column_count(), text);
      sealed.rows.add(text);
    }
    sealed.rows.add("\n");
  }
  ASSAY_ASSIGN_OR_RETURN(
      sealed.traces,
      collect(connection.prepare(kSealedTraces, launch), [](Statement& row) -> Result<SealedTrace> {
        const int channel = row.column_count() - 1;
        SealedTrace trace{.channel = row.text(channel), .row = {}};
        append_row(row, channel, trace.row);
        return trace;
      }));
  std::ranges::sort(sealed.traces, {}, &SealedTrace::channel);
  return sealed;
}

std::string digest_of(const SealedLaunch& sealed) {
  auto hash = sealed.rows;
  for (const auto& trace : sealed.traces) {
    hash.add(trace.row);
  }
  hash.add("\n");
  return hash.hex();
}

std::string digest_of(const SealedLaunch& sealed, const std::vector<std::string>& channels) {
  auto hash = sealed.rows;
  for (const auto& channel : channels) {
    const auto trace = std::ranges::find(sealed.traces, channel, &SealedTrace::channel);
    hash.add(trace == sealed.traces.end() ? std::string_view() : trace->row);
  }
  hash.add("\n");
  return hash.hex();
}

// A damaged launch is hashed in each of the orders, likely ones first.
std::size_t most_tries(const SealedLaunch& sealed) {
  std::size_t bytes = 1;
  for (const auto& trace : sealed.traces) {
    bytes += trace.row.size();
  }
  return std::max(kLikelyTraceOrders, kMostHashedBytes / bytes);
}

Result<bool> was_sealed_in_another_order(Connection& connection, const std::string& launch,
                                         const SealedLaunch& sealed, std::string_view digest) {
  std::vector<std::string> channels;
  channels.reserve(sealed.traces.size());
  for (const auto& trace : sealed.traces) {
    channels.push_back(trace.channel);
  }
  ASSAY_ASSIGN_OR_RETURN(const auto orders, other_trace_orders(connection, launch, channels));
  return std::ranges::any_of(orders | std::views::take(most_tries(sealed)),
                             [&](const auto& order) { return digest_of(sealed, order) == digest; });
}

}  // namespace

Result<std::string> digest_from_rows_of_launch(Connection& connection, const std::string& launch) {
  ASSAY_ASSIGN_OR_RETURN(const auto sealed, read_sealed(connection, launch));
  return digest_of(sealed);
}

Result<std::string> digest_in_order(Connection& connection, const std::string& launch,
                                    const std::vector<std::string>& channels) {
  ASSAY_ASSIGN_OR_RETURN(const auto sealed, read_sealed(connection, launch));
  return digest_of(sealed, channels);
}

Status seal_launch(Connection& connection, const std::string& launch) {
  ASSAY_ASSIGN_OR_RETURN(const auto digest, digest_from_rows_of_launch(connection, launch));
  return connection.run("UPDATE launch SET digest = ? WHERE id = ?", digest, launch);
}

Result<Seal> seal_of_launch(Connection& connection, const std::string& launch) {
  ASSAY_ASSIGN_OR_RETURN(const auto digest,
                         get_one(
                             connection.prepare("SELECT digest FROM launch WHERE id = ?", launch),
                             [](Statement& row) { return Result<std::string>(row.text(0)); },
                             fmt::format("no launch '{}' in the store", launch)));
  if (digest.empty()) {
    return Seal::kNone;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto sealed, read_sealed(connection, launch));
  if (digest_of(sealed) == digest) {
    return Seal::kRight;
  }
  ASSAY_ASSIGN_OR_RETURN(const bool is_right,
                         was_sealed_in_another_order(connection, launch, sealed, digest));
  return is_right ? Seal::kRight : Seal::kWrong;
}

Status check_seal(Connection& connection, const std::string& launch) {
  ASSAY_ASSIGN_OR_RETURN(const auto seal, seal_of_launch(connection, launch));
  return seal != Seal::kWrong
             ? Status()
             : fail(ErrorCode::kCorrupt,
                    fmt::format("launch '{}' is damaged: its rows do not have the digest that they "
                                "were stored with; restore a copy of {}, or remove its run",
                                launch, connection.name()));
}

}  // namespace assay::sql
