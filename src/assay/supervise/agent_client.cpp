#include "assay/supervise/agent_client.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "assay/base/clock.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/device/transport.h"
#include "assay/record/launch.h"
#include "assay/record/run.h"
#include "assay/record/spawn.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"

namespace assay {
namespace {

using wire::Frame;
using wire::MessageType;

constexpr std::int64_t kAnswerNs = 30'000'000'000;
constexpr std::int64_t kBlobAnswerNs = 600'000'000'000;

int timeout_ms_from_ns(std::int64_t ns) {
  constexpr std::int64_t kNsPerMillisecond = 1'000'000;
  return static_cast<int>(
      std::clamp<std::int64_t>(ns / kNsPerMillisecond, 0, std::numeric_limits<int>::max()));
}

bool is_agent_lost(ErrorCode code) {
  return code == ErrorCode::kCrashed || code == ErrorCode::kCorrupt || code == ErrorCode::kTimeout;
}

/// A field of an answer. Errors: kCorrupt.
template <class T>
Result<T> field_of(const Frame& answer, const char* name) {
  try {
    return answer.body.at(name).get<T>();
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("malformed answer of the agent: {}", error.what()));
  }
}

}  // namespace

Result<AgentClient> AgentClient::connect(Transport& transport) {
  ASSAY_ASSIGN_OR_RETURN(auto process, transport.start_agent());
  AgentClient client(std::move(process), transport.describe(), transport.shares_files());
  const wire::Hello hello{.program = "assay"};
  ASSAY_ASSIGN_OR_RETURN(
      const auto answer,
      client.ask(wire::frame_of(MessageType::kHello, 0, hello), kAnswerNs, "greeted us"));
  ASSAY_ASSIGN_OR_RETURN(client.hello_, wire::body_of<wire::Hello>(answer));
  ASSAY_RETURN_IF_ERROR(wire::agree_on_version(client.hello_));
  return client;
}

Result<SpawnResult> AgentClient::spawn(const SpawnRequest& request) {
  auto frame = wire::frame_of(MessageType::kSpawn, 0, request);
  frame.blob = request.input;
  const auto wall_ns = std::max<std::int64_t>(request.limits.wall_ns, 0);
  const auto most_ns = std::numeric_limits<std::int64_t>::max() - kAnswerNs;
  const auto program = request.argv.empty() ? std::string() : request.argv[0];
  ASSAY_ASSIGN_OR_RETURN(auto answer, ask(std::move(frame), std::min(wall_ns, most_ns) + kAnswerNs,
                                          fmt::format("ran '{}'", program)));
  ASSAY_ASSIGN_OR_RETURN(auto result, wire::body_of<SpawnResult>(answer));
  result.output = std::move(answer.blob);
  return result;
}

Result<bool> AgentClient::has(std::string_view sha256) {
  ASSAY_ASSIGN_OR_RETURN(const auto answer,
                         ask({.type = MessageType::kHas, .body = {{"sha256", sha256}}},
                             kBlobAnswerNs, "looked for a blob"));
  return field_of<bool>(answer, "has");
}

Result<std::string> AgentClient::put(std::string_view sha256, std::span<const std::byte> content) {
  ASSAY_ASSIGN_OR_RETURN(const auto answer, ask({.type = MessageType::kPut,
                                                 .body = {{"sha256", sha256}},
                                                 .blob = {content.begin(), content.end()}},
                                                kBlobAnswerNs, "took a blob"));
  return field_of<std::string>(answer, "path");
}

Result<std::string> AgentClient::push_file(const std::filesystem::path& path,
                                           std::string_view sha256) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return fail(ErrorCode::kNotFound, fmt::format("no file '{}' to send", path.string()));
  }
  if (shares_files_) {
    return std::filesystem::absolute(path, error).string();
  }
  ASSAY_ASSIGN_OR_RETURN(const auto answer,
                         ask({.type = MessageType::kHas, .body = {{"sha256", sha256}}},
                             kBlobAnswerNs, "looked for a blob"));
  ASSAY_ASSIGN_OR_RETURN(const auto is_there, field_of<bool>(answer, "has"));
  if (is_there) {
    return field_of<std::string>(answer, "path");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto content, read_file(path));
  return put(sha256, std::as_bytes(std::span(content)));
}

Result<Conditions> AgentClient::conditions() {
  ASSAY_ASSIGN_OR_RETURN(const auto answer,
                         ask({.type = MessageType::kConditions}, kAnswerNs, "read its conditions"));
  return wire::body_of<Conditions>(answer);
}

Result<Environment> AgentClient::environment() {
  ASSAY_ASSIGN_OR_RETURN(const auto answer, ask({.type = MessageType::kEnvironment}, kAnswerNs,
                                                "described its machine"));
  return wire::body_of<Environment>(answer);
}

Result<Frame> AgentClient::ask(Frame request, std::int64_t timeout_ns, std::string_view doing) {
  if (process_.pid() <= 0) {
    return fail(ErrorCode::kCrashed, fmt::format("the agent of device '{}' {}; connect again",
                                                 device_, process_.close()));
  }
  request.request = ++last_request_;
  auto answer = [&]() -> Result<Frame> {
    const auto sent = channel_.send(request);
    if (!sent && sent.error().code != ErrorCode::kCrashed) {
      return std::unexpected(sent.error());
    }
    // If it is gone: what it said before tells why.
    return receive_answer(request.request, timeout_ns);
  }();
  if (!answer && is_agent_lost(answer.error().code)) {
    return fail(
        answer.error().code == ErrorCode::kTimeout ? ErrorCode::kTimeout : ErrorCode::kCrashed,
        fmt::format("lost the agent of device '{}' while it {}: {}; it {}", device_, doing,
                    answer.error().message, process_.close()));
  }
  if (answer && answer->type == MessageType::kError) {
    return std::unexpected(wire::error_from_frame(*answer));
  }
  return answer;
}

Result<Frame> AgentClient::receive_answer(std::uint32_t request, std::int64_t timeout_ns) {
  const auto start_ns = monotonic_ns();
  while (true) {
    const auto left_ns = timeout_ns - (monotonic_ns() - start_ns);
    ASSAY_ASSIGN_OR_RETURN(auto frame, channel_.receive(timeout_ms_from_ns(left_ns)));
    if (!frame) {
      return fail(ErrorCode::kCrashed, "the stream ended");
    }
    const bool is_about_stream = frame->request == 0 && frame->type == MessageType::kError;
    if (frame->request == request || is_about_stream) {
      return *std::move(frame);
    }
  }
}

}  // namespace assay
