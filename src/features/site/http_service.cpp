#include "features/site/http_service.h"

#include "features/site/access.h"
#include "features/site/ingest.h"
#include "features/site/markup.h"
#include "features/site/page.h"
#include "features/site/routes.h"
#include "features/site/site.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/digest.h"
#include "assay/base/json.h"
#include "assay/base/log.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/base/text.h"

namespace assay::site {
namespace {

constexpr std::size_t kMostParameters = 20;
constexpr const char* kPartPath = "api/runs";

/// The policy of the pages themselves, and that no other page may frame them.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

void add_headers(HttpAnswer& answer) {
  answer.headers.emplace_back("Content-Security-Policy", kPolicy);
  answer.headers.emplace_back("X-Content-Type-Options", "nosniff");
  answer.headers.emplace_back("Referrer-Policy", "no-referrer");
  answer.headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
  answer.headers.emplace_back("Cache-Control", "private, no-cache");
}

int status_of_error(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNotFound:
      return 404;
    case ErrorCode::kInvalidArgument:
      return 400;
    case ErrorCode::kUnavailable:
    case ErrorCode::kExhausted:
      return 503;
    default:
      return 500;
  }
}

/// A part that is refused is the sender's fault, a store that cannot be written is not.
int status_of_part_error(const Error& error) {
  switch (error.code) {
    case ErrorCode::kConflict:
      return 409;
    case ErrorCode::kCorrupt:
    case ErrorCode::kUnsupported:
    case ErrorCode::kInvalidArgument:
      return 400;
    default:
      return 503;
  }
}

std::string title_of_status(int status) {
  switch (status) {
    case 400:
      return "This request cannot be understood";
    case 401:
      return "A token is needed";
    case 403:
      return "Not allowed";
    case 404:
      return "There is no such page";
    case 405:
      return "Not possible here";
    default:
      return "This page could not be made";
  }
}

/// True if a tag is in the list of If-None-Match. A proxy that compresses a page makes its tag a
/// weak one, and the page is the same.
bool has_tag(std::string_view list, std::string_view tag) {
  constexpr std::string_view kSpace = " \t";
  constexpr std::string_view kWeak = "W/";
  while (!list.empty()) {
    auto one = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), one.size() + 1));
    one.remove_prefix(std::min(one.size(), one.find_first_not_of(kSpace)));
    one = one.substr(0, one.find_last_not_of(kSpace) + 1);
    if (one == "*" || one == tag || (one.starts_with(kWeak) && one.substr(kWeak.size()) == tag)) {
      return true;
    }
  }
  return false;
}

bool is_api(const std::string& path) { return path.starts_with("api/"); }

HttpAnswer answer_from_page(Page page, const HttpRequest& request) {
  HttpAnswer answer;
  const auto tag = "\"" + sha256_hex(page.body).substr(0, 32) + "\"";
  add_headers(answer);
  answer.headers.emplace_back("ETag", tag);
  if (has_tag(request.if_none_match, tag)) {
    answer.status = 304;
    return answer;
  }
  answer.headers.emplace_back("Content-Type", page.media_type);
  answer.body = std::move(page.body);
  return answer;
}

}  // namespace

PageRequest page_request_from_target(const std::string& target) {
  PageRequest request;
  const auto question = target.find('?');
  request.path = percent_decoded(target.substr(0, question));
  // The printed address ends with "/", and who appends "/index.html" to it has two.
  request.path.erase(0, std::min(request.path.find_first_not_of('/'), request.path.size()));
  if (question == std::string::npos) {
    return request;
  }
  std::string_view rest = std::string_view(target).substr(question + 1);
  rest = rest.substr(0, rest.find('#'));
  while (!rest.empty() && request.query.size() < kMostParameters) {
    const auto one = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    const auto equals = one.find('=');
    const auto decode = [](std::string_view text) {
      std::string spaced(text);
      std::ranges::replace(spaced, '+', ' ');
      return valid_utf8(percent_decoded(spaced));
    };
    const auto name = decode(one.substr(0, equals));
    request.query[name] =
        equals == std::string_view::npos ? std::string() : decode(one.substr(equals + 1));
  }
  return request;
}

bool HttpService::takes_body(const HttpRequest& request) const {
  return request.method == "POST" && page_request_from_target(request.target).path == kPartPath;
}

bool HttpService::reads_store(const HttpRequest& request) {
  return site::reads_store(page_request_from_target(request.target).path);
}

HttpAnswer HttpService::refuse_unwritten(const HttpRequest& request, const std::string& why) {
  log_line(LogLevel::kError,
           fmt::format("a part cannot be kept in '{}' while it is read: {}; give that folder room, "
                       "or name another one in TMPDIR",
                       options_.part_folder.string(), why));
  return error(request, 503, "this server has no room for the part; send it again later");
}

std::filesystem::path HttpService::part_file() {
  const std::scoped_lock lock(naming_);
  return options_.part_folder / fmt::format("part-{}.db", next_part_++);
}

HttpAnswer HttpService::error(const HttpRequest& request, int status, const std::string& message) {
  HttpAnswer answer{.status = status};
  add_headers(answer);
  const auto page = page_request_from_target(request.target);
  if (status == 401) {
    answer.headers.emplace_back("WWW-Authenticate", "Basic realm=\"Assay\", charset=\"UTF-8\"");
  }
  if (status == 405) {
    answer.headers.emplace_back("Allow", page.path == kPartPath ? "GET, HEAD, POST" : "GET, HEAD");
  }
  if (is_api(page.path)) {
    answer.headers.emplace_back("Content-Type", "application/json");
    answer.body = text_from_json({{"schema", "assay/error/1"}, {"error", message}}) + "\n";
  } else if (status == 401 || status == 403) {
    // A page of the site would name the store to who may not read it.
    answer.headers.emplace_back("Content-Type", "text/plain; charset=utf-8");
    answer.body = message + "\n";
  } else {
    answer.headers.emplace_back("Content-Type", "text/html; charset=utf-8");
    answer.body = site_.error_page({.path = page.path}, title_of_status(status), message).body;
  }
  return answer;
}

std::optional<HttpAnswer> HttpService::refuse(const HttpRequest& request) {
  if (options_.is_loopback && !is_loopback_host(request.host) &&
      !is_host_of(request.host, options_.hosts)) {
    return error(request, 403,
                 "this server answers to localhost only; --public-name allows the name that a "
                 "proxy passes on, and --host says what else it listens on");
  }
  const bool is_part = takes_body(request);
  if (request.method != "GET" && request.method != "HEAD" && !is_part) {
    return error(request, 405, "a site is read with GET; POST /api/runs adds runs");
  }
  switch (
      check_access(options_.tokens, is_part ? Right::kAdd : Right::kRead, request.authorization)) {
    case Access::kUnknown:
      return error(request, 401, "show the token, as Authorization: Bearer TOKEN");
    case Access::kForbidden:
      return error(request, 403,
                   is_part ? "this server takes runs only with the token that adds"
                           : "the token that adds runs cannot read");
    case Access::kAllowed:
      break;
  }
  if (!is_part) {
    return request.content_length.value_or(0) > 0
               ? std::optional(error(request, 400, "a request that reads has no body"))
               : std::nullopt;
  }
  if (!options_.open_to_add) {
    return error(request, 403, "this server takes no runs");
  }
  if (!request.content_length) {
    return error(request, 411, "say how long the part is: Content-Length");
  }
  if (*request.content_length > options_.max_part_bytes) {
    return error(request, 413,
                 fmt::format("a part has at most {} bytes here; send its runs apart, or use assay "
                             "merge",
                             options_.max_part_bytes));
  }
  return std::nullopt;
}

HttpAnswer HttpService::answer(const HttpRequest& request) {
  if (auto refusal = refuse(request)) {
    return std::move(*refusal);
  }
  auto page = site_.render(page_request_from_target(request.target));
  if (!page) {
    const int status = status_of_error(page.error().code);
    if (status >= 500) {
      log_line(LogLevel::kWarning, fmt::format("{}: {}", request.target, page.error().message));
    }
    return error(request, status, page.error().message);
  }
  return answer_from_page(std::move(*page), request);
}

HttpAnswer HttpService::answer_part(const HttpRequest& request, const std::filesystem::path& part) {
  if (auto refusal = refuse(request)) {
    return std::move(*refusal);
  }
  const std::scoped_lock lock(merging_);
  const auto rows = merge_part(options_.open_to_add, part);
  if (!rows) {
    log_line(LogLevel::kWarning, "a part was refused: " + rows.error().message);
    return error(request, status_of_part_error(rows.error()), rows.error().message);
  }
  HttpAnswer answer;
  add_headers(answer);
  answer.headers.emplace_back("Content-Type", "application/json");
  answer.body = text_from_json({{"schema", "assay/merged/1"}, {"rows", *rows}}) + "\n";
  return answer;
}

}  // namespace assay::site
