#include "features/watch/delivery.h"

#include "features/repository/repository_spec.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"

namespace assay::watch {
namespace {

namespace stdfs = std::filesystem;

constexpr std::chrono::seconds kMostTime{60};
constexpr std::size_t kMostTokenBytes = 16'384;
constexpr std::size_t kKeyDigits = 12;

/// Scheme, host and port: the rest of an address may be a secret.
std::string place_of(const std::string& url) {
  const auto begin = url.find("://") + 3;
  const auto end = std::min(url.find_first_of("/?#", begin), url.size());
  const auto user = url.rfind('@', end);
  const auto host = user == std::string::npos || user < begin ? begin : user + 1;
  return url.substr(0, begin) + url.substr(host, end - host);
}

Status failed_delivery(const std::string& receiver, const std::string& why) {
  return fail(
      ErrorCode::kUnavailable,
      fmt::format("the notification {} {}; it is tried again with the next step", receiver, why));
}

Status deliver_to_command(const Notification& notification, const std::string& text) {
  const auto name = fmt::format("`{}`", fmt::join(notification.argv, " "));
  auto process = Subprocess::start({.argv = notification.argv, .stdout_file = "/dev/null"});
  if (!process) {
    return failed_delivery(name, "cannot be started: " + process.error().message);
  }
  if (!process->write(text)) {
    // A command that does not read its input may still do its work.
  }
  process->close_stdin();
  if (!process->has_ended(kMostTime)) {
    return failed_delivery(name, "did not end within a minute");
  }
  const int code = process->wait();
  return code == 0 ? Status() : failed_delivery(name, fmt::format("ended with {}", code));
}

void warn_of_readers(const stdfs::path& file) {
  std::error_code error;
  const auto mode = stdfs::status(file, error).permissions();
  constexpr auto kOthers = stdfs::perms::group_read | stdfs::perms::others_read;
  if (!error && (mode & kOthers) != stdfs::perms::none) {
    log_line(LogLevel::kWarning,
             fmt::format("other users can read the token in {}; chmod 600 {} forbids it",
                         file.string(), file.string()));
  }
}

/// The token without the end of its line. Errors: kUnavailable for what no header can hold.
Result<std::string> read_token(const stdfs::path& file) {
  ASSAY_ASSIGN_OR_RETURN(auto token, read_file(file, kMostTokenBytes));
  warn_of_readers(file);
  token.erase(token.find_last_not_of(" \t\r\n") + 1);
  const bool is_plain =
      !token.empty() && std::ranges::all_of(token, [](char c) { return c > ' ' && c < '\x7f'; });
  if (!is_plain) {
    return fail(ErrorCode::kUnavailable, file.string() + " must hold one word, the token");
  }
  return token;
}

/// A line of curl's configuration.
std::string line_of_config(std::string_view option, std::string_view value) {
  std::string line = fmt::format("{} = \"", option);
  for (const char c : value) {
    line += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  }
  return line + "\"\n";
}

std::string config_of_post(const Notification& notification, const std::string& token,
                           std::string_view text) {
  auto config = line_of_config("url", notification.url) +
                line_of_config("header", "Content-Type: application/json") +
                line_of_config("data-raw", text) + line_of_config("output", "/dev/null") +
                line_of_config("write-out", "%{http_code} %{errormsg}\\n") +
                line_of_config("max-time", std::to_string(kMostTime.count())) + "silent\n";
  if (!token.empty()) {
    config += line_of_config("header", "Authorization: Bearer " + token);
  }
  return config;
}

/// Status code and, where there was no answer, the reason: "000 Connection refused".
Result<std::string> post(const std::string& config) {
  // -q: the user's own configuration may write to files or follow redirections.
  ASSAY_ASSIGN_OR_RETURN(auto curl, Subprocess::start({.argv = {"curl", "-q", "--config", "-"}}));
  ASSAY_RETURN_IF_ERROR(curl.write(config));
  curl.close_stdin();
  constexpr auto kSlack = std::chrono::seconds(5);
  ASSAY_ASSIGN_OR_RETURN(const auto line, curl.read_line(kMostTime + kSlack));
  return line.value_or(fmt::format("000 curl ended with {}", curl.wait()));
}

Status deliver_by_http(const Notification& notification, const std::string& text) {
  const auto name = "to " + place_of(notification.url);
  std::string token;
  if (!notification.token_file.empty()) {
    auto read = read_token(notification.token_file);
    if (!read) {
      return failed_delivery(name, "has no token: " + read.error().message);
    }
    token = *std::move(read);
  }
  const auto answer = post(config_of_post(notification, token, text));
  if (!answer) {
    return failed_delivery(name, "could not be sent by curl: " + answer.error().message);
  }
  if (answer->starts_with('2')) {
    return {};
  }
  const auto space = std::min(answer->find(' '), answer->size());
  const auto code = answer->substr(0, space);
  const auto reason = answer->substr(std::min(space + 1, answer->size()));
  return failed_delivery(name, code == "000" ? "was not sent: " + reason : "was answered " + code);
}

}  // namespace

std::string key_of(const Notification& notification) {
  return digest_of_json({{"argv", notification.argv}, {"url", notification.url}})
      .substr(0, kKeyDigits);
}

Status deliver(const Notification& notification, const std::string& text) {
  return notification.url.empty() ? deliver_to_command(notification, text)
                                  : deliver_by_http(notification, text);
}

}  // namespace assay::watch
