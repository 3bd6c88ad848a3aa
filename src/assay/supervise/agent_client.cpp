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
#include <vector>

#include <poll.h>

#include "assay/base/clock.h"
#include "assay/base/result.h"
#include "assay/device/transport.h"
#include "assay/record/launch.h"
#include "assay/record/run.h"
#include "assay/record/spawn.h"
#include "assay/supervise/file_parts.h"
#include "assay/supervise/longest_spawn.h"
#include "assay/wire/agent_messages.h"
#include "assay/wire/channel.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"

namespace assay {
namespace {

using wire::Frame;
using wire::MessageType;

constexpr std::int64_t kAnswerNs = 30'000'000'000;
constexpr std::int64_t kBlobAnswerNs = 600'000'000'000;
constexpr std::size_t kPartBytes = std::size_t{16} << 20;

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

Result<AgentClient> AgentClient::connect(Transport& transport, const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(auto process, transport.start_agent());
  AgentClient client(std::move(process), transport.describe(), transport.shares_files());
  const wire::Hello hello{.program = "assay", .heartbeat_ns = options.heartbeat_ns};
  ASSAY_ASSIGN_OR_RETURN(
      const auto answer,
      client.ask(wire::frame_of(MessageType::kHello, 0, hello), kAnswerNs, "greeted us"));
  ASSAY_ASSIGN_OR_RETURN(client.hello_, wire::body_of<wire::Hello>(answer));
  ASSAY_RETURN_IF_ERROR(wire::agree_on_version(client.hello_));
  if (options.heartbeat_ns > 0) {
    client.expect_heartbeats(options);
  }
  return client;
}

/// Expects as many as the agent has promised, which may be none.
void AgentClient::expect_heartbeats(const Options& options) {
  constexpr std::int64_t kMissedToTell = 2;
  constexpr std::int64_t kHourNs = 3'600'000'000'000;
  if (hello_.heartbeat_ns > 0) {
    const auto beat_ns = std::min(hello_.heartbeat_ns, kHourNs);
    silence_ms_ = timeout_ms_from_ns(options.most_missed * beat_ns);
    notice_ms_ = options.on_silence ? timeout_ms_from_ns(kMissedToTell * beat_ns) : -1;
    on_silence_ = options.on_silence;
    send_silence_ms_ = std::max(silence_ms_, timeout_ms_from_ns(kAnswerNs));
    wire::stop_blocking(process_.write_fd());
  }
}

Result<SpawnResult> AgentClient::spawn(const SpawnRequest& request) {
  auto frame = wire::frame_of(MessageType::kSpawn, 0, request);
  frame.blob = request.input;
  const auto program = request.argv.empty() ? std::string() : request.argv[0];
  ASSAY_ASSIGN_OR_RETURN(auto answer, ask(std::move(frame), longest_spawn_ns(request) + kAnswerNs,
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
  return put_part({.sha256 = std::string(sha256)}, {content.begin(), content.end()});
}

/// Empty unless it is the last part.
Result<std::string> AgentClient::put_part(const wire::Put& part, std::vector<std::byte> content) {
  auto request = wire::frame_of(MessageType::kPut, 0, part);
  request.blob = std::move(content);
  ASSAY_ASSIGN_OR_RETURN(const auto answer, ask(std::move(request), kBlobAnswerNs, "took a blob"));
  return field_of<std::string>(answer, "path");
}

Result<std::string> AgentClient::send_file(const std::filesystem::path& path,
                                           std::string_view sha256) {
  ASSAY_ASSIGN_OR_RETURN(const auto file, FileParts::open(path));
  wire::Put part{.sha256 = std::string(sha256), .total_bytes = file.total_bytes()};
  while (true) {
    ASSAY_ASSIGN_OR_RETURN(auto content, file.read(part.offset, kPartBytes));
    const auto bytes = static_cast<std::int64_t>(content.size());
    ASSAY_ASSIGN_OR_RETURN(auto path_there, put_part(part, std::move(content)));
    part.offset += bytes;
    if (part.offset == part.total_bytes) {
      return path_there;
    }
  }
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
  return is_there ? field_of<std::string>(answer, "path") : send_file(path, sha256);
}

Result<wire::TreeReply> AgentClient::ask_for_tree(const wire::Tree& tree) {
  ASSAY_ASSIGN_OR_RETURN(const auto answer, ask(wire::frame_of(MessageType::kTree, 0, tree),
                                                kBlobAnswerNs, "made a tree of files"));
  return wire::body_of<wire::TreeReply>(answer);
}

Result<std::string> AgentClient::push_tree(const std::vector<TreeSource>& files) {
  wire::Tree tree;
  for (const auto& [path, file, sha256, is_executable] : files) {
    tree.files.push_back({.path = path, .sha256 = sha256, .is_executable = is_executable});
  }
  tree.digest = wire::digest_of_tree(tree.files);
  ASSAY_RETURN_IF_ERROR(wire::check_tree(tree));
  ASSAY_ASSIGN_OR_RETURN(auto reply, ask_for_tree(tree));
  for (const auto& sha256 : reply.missing) {
    const auto source = std::ranges::find(files, sha256, &TreeSource::sha256);
    if (source == files.end()) {
      return fail(ErrorCode::kCorrupt, fmt::format("the agent of device '{}' misses blob '{}', "
                                                   "which is not of the tree",
                                                   device_, sha256));
    }
    ASSAY_RETURN_IF_ERROR(send_file(source->file, sha256));
  }
  if (!reply.missing.empty()) {
    ASSAY_ASSIGN_OR_RETURN(reply, ask_for_tree(tree));
  }
  if (reply.path.empty()) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("device '{}' does not keep the {} files of a tree that were sent; look "
                            "at its storage",
                            device_, reply.missing.size()));
  }
  return reply.path;
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

Result<wire::LockReply> AgentClient::lock(std::string_view holder) {
  const wire::Lock lock{.holder = std::string(holder)};
  ASSAY_ASSIGN_OR_RETURN(const auto answer, ask(wire::frame_of(MessageType::kLock, 0, lock),
                                                kAnswerNs, "locked the device"));
  return wire::body_of<wire::LockReply>(answer);
}

Result<wire::PolicyReply> AgentClient::apply_policy(const wire::Policy& policy) {
  ASSAY_ASSIGN_OR_RETURN(const auto answer, ask(wire::frame_of(MessageType::kPolicy, 0, policy),
                                                kAnswerNs, "changed settings of the device"));
  return wire::body_of<wire::PolicyReply>(answer);
}

Result<wire::Space> AgentClient::space() {
  ASSAY_ASSIGN_OR_RETURN(const auto answer,
                         ask({.type = MessageType::kSpace}, kBlobAnswerNs, "looked at its space"));
  return wire::body_of<wire::Space>(answer);
}

Result<std::int64_t> AgentClient::prune(std::int64_t keep_bytes) {
  const wire::Prune prune{.keep_bytes = keep_bytes};
  ASSAY_ASSIGN_OR_RETURN(const auto answer, ask(wire::frame_of(MessageType::kPrune, 0, prune),
                                                kBlobAnswerNs, "removed old files"));
  return field_of<std::int64_t>(answer, "removed_bytes");
}

Result<Frame> AgentClient::ask(Frame request, std::int64_t timeout_ns, std::string_view doing) {
  if (process_.pid() <= 0) {
    return fail(ErrorCode::kCrashed, fmt::format("the agent of device '{}' {}; connect again",
                                                 device_, process_.close()));
  }
  request.request = ++last_request_;
  auto answer = [&]() -> Result<Frame> {
    const auto sent = channel_.send(request, send_silence_ms_);
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

bool AgentClient::is_silent() const {
  pollfd entry{.fd = process_.read_fd(), .events = POLLIN, .revents = 0};
  return notice_ms_ >= 0 && ::poll(&entry, 1, notice_ms_) == 0;
}

Result<Frame> AgentClient::receive_answer(std::uint32_t request, std::int64_t timeout_ns) {
  const auto start_ns = monotonic_ns();
  bool is_told = false;
  while (true) {
    if (!is_told && is_silent()) {
      is_told = true;
      on_silence_();
    }
    const auto left_ns = timeout_ns - (monotonic_ns() - start_ns);
    ASSAY_ASSIGN_OR_RETURN(auto frame, channel_.receive(timeout_ms_from_ns(left_ns), silence_ms_));
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
