#include "assay/store/postgres/errors.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/base/text.h"
#include "assay/store/sql/connection.h"

namespace assay::postgres {
namespace {

struct Refusal {
  std::string_view state;  ///< Five letters, or the two of a class.
  ErrorCode code;
  std::string_view advice;
};

// The first that fits. https://www.postgresql.org/docs/15/errcodes-appendix.html
constexpr auto kRefusals = std::to_array<Refusal>({
    {"08", ErrorCode::kUnavailable, "; is the server running?"},
    {"0A", ErrorCode::kUnsupported, ""},
    {"22", ErrorCode::kInvalidArgument, ""},
    {"25006", ErrorCode::kUnavailable, "; the store was opened to be read"},
    {"2BP01", ErrorCode::kUnsupported, "; drop those first, and make them anew afterwards"},
    {"28", ErrorCode::kUnavailable,
     "; a password is read from ~/.pgpass, PGPASSWORD or a service file"},
    {"3D000", ErrorCode::kNotFound, "; make the database with createdb"},
    {"40", ErrorCode::kUnavailable, "; another process has been writing, try again"},
    {"42501", ErrorCode::kUnavailable,
     "; assay store grant lets a role read or add, and all else is the owner's"},
    {"53100", ErrorCode::kExhausted,
     "; free some disk space at the server: what was stored before is safe and readable"},
    {"53", ErrorCode::kExhausted, ""},
    {"54", ErrorCode::kInvalidArgument, "; a record may hold up to 1 GB"},
    {"55", ErrorCode::kUnavailable, "; another process holds it, try again"},
    {"57", ErrorCode::kUnavailable, "; the server stops or starts, try again"},
    {"XX001", ErrorCode::kCorrupt, "; restore a backup of the database"},
    {"XX002", ErrorCode::kCorrupt, "; restore a backup of the database, or REINDEX"},
});

struct ConnectAdvice {
  std::string_view part;  ///< Words in the message of libpq or the server.
  std::string_view advice;
};

// A connection that was not made has no code. The first that fits; what says nothing known, in
// another language perhaps, fits the last one.
constexpr auto kConnectAdvice = std::to_array<ConnectAdvice>({
    {"permission denied", "; the owner of the database may GRANT CONNECT"},
    {"role \"", "; make the role with createuser, or name another one: postgresql://ROLE@…"},
    {"database \"", "; make the database with createdb"},
    {"password", "; a password is read from ~/.pgpass, PGPASSWORD or a service file"},
    {"pg_hba.conf", "; the server's pg_hba.conf has to admit this host and role"},
    {"Is the server running",
     " The address may name another host and port: "
     "postgresql://ROLE@HOST:PORT/DATABASE"},
    {"", "; is the server running, and does the address name its host, port and database?"},
});

std::string_view advice_on_connecting(std::string_view message) {
  return std::ranges::find_if(kConnectAdvice,
                              [message](const ConnectAdvice& known) {
                                return message.find(known.part) != std::string_view::npos;
                              })
      ->advice;
}

}  // namespace

std::string line_from_message(std::string_view message) {
  while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) {
    message.remove_suffix(1);
  }
  return printable(message);
}

bool asks_for_retry(std::string_view state) { return state == "40001" || state == "40P01"; }

bool is_lock_timeout(std::string_view state) { return state == "55P03"; }

Result<bool> was_committed_from_state(std::string_view store, std::string_view state) {
  if (state == "committed" || state == "aborted") {
    return state == "committed";
  }
  return fail(ErrorCode::kUnavailable,
              fmt::format("{}: the connection was lost while a transaction ended, and the server "
                          "cannot say whether it took place ({}); look with assay runs, and go on "
                          "with --resume",
                          store, state.empty() ? "it knows of none" : state));
}

Error error_from_server(std::string_view store, std::string_view state, std::string_view message) {
  if (state == "23503") {
    return {.code = ErrorCode::kNotFound, .message = std::string(sql::kMissingRecord)};
  }
  const auto text = fmt::format("{}: {}", store, message);
  if (state.starts_with("23")) {
    return {.code = ErrorCode::kInvalidArgument, .message = text};
  }
  if (state.empty()) {
    return {.code = ErrorCode::kUnavailable,
            .message = fmt::format("{}{}", text, advice_on_connecting(message))};
  }
  const auto* const refusal = std::ranges::find_if(
      kRefusals, [state](const Refusal& known) { return state.starts_with(known.state); });
  return refusal == kRefusals.end()
             ? Error{.code = ErrorCode::kInternal,
                     .message = fmt::format("PostgreSQL error {}: {}", state, text)}
             : Error{.code = refusal->code, .message = fmt::format("{}{}", text, refusal->advice)};
}

}  // namespace assay::postgres
