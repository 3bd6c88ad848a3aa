#include "assay/engines/fake/lies.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "assay/base/enum_names.h"
#include "assay/base/file_descriptor.h"
#include "assay/base/json.h"
#include "assay/base/pipe.h"
#include "assay/base/result.h"
#include "assay/wire/channel.h"
#include "assay/wire/frame.h"

namespace assay::fake {
namespace {

Result<std::vector<std::byte>> bytes_from_hex(std::string_view hex) {
  constexpr std::size_t kDigits = 2;
  constexpr int kBase = 16;
  std::vector<std::byte> bytes;
  for (; !hex.empty(); hex.remove_prefix(kDigits)) {
    std::uint8_t value = 0;
    const auto digits = hex.substr(0, kDigits);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, kBase);
    if (error != std::errc() || digits.size() != kDigits || end != digits.data() + kDigits) {
      return fail(ErrorCode::kCorrupt, fmt::format("'{}' is no byte in hexadecimal", digits));
    }
    bytes.push_back(std::byte{value});
  }
  return bytes;
}

Result<Lie> lie_from_json(const Json& json) {
  Lie lie{.body = json.value("body", Json::object()), .copies = json.value("copies", 1)};
  ASSAY_ASSIGN_OR_RETURN(lie.answer, enum_from_name<wire::MessageType>(json.value("answer", "")));
  if (json.contains("type")) {
    ASSAY_ASSIGN_OR_RETURN(lie.type, enum_from_name<wire::MessageType>(json.value("type", "")));
  }
  if (json.contains("blob_hex")) {
    ASSAY_ASSIGN_OR_RETURN(lie.blob, bytes_from_hex(json.value("blob_hex", "")));
  }
  return lie;
}

/// Changes the frame as the lies say; returns the number of times to send it.
int apply_lies(const std::vector<Lie>& lies, wire::Frame& frame) {
  const auto answer = frame.type;
  int copies = 1;
  for (const auto& lie : lies) {
    if (lie.answer != answer) {
      continue;
    }
    frame.body.merge_patch(lie.body);
    frame.blob = lie.blob.value_or(frame.blob);
    frame.type = lie.type.value_or(frame.type);
    copies = lie.copies;
  }
  return copies;
}

/// Until nothing more comes, or nobody listens.
void pass_on(const std::vector<Lie>& lies, const FileDescriptor& from, const FileDescriptor& to) {
  wire::Channel channel(from.get(), to.get());
  while (true) {
    auto received = channel.receive();
    if (!received || !received->has_value()) {
      return;
    }
    auto frame = std::move(received)->value();
    for (int copies = apply_lies(lies, frame); copies > 0; --copies) {
      if (!channel.send(frame)) {
        return;
      }
    }
  }
}

}  // namespace

Result<std::vector<Lie>> lies_from_json(const Json& json) {
  std::vector<Lie> lies;
  for (const auto& entry : json) {
    ASSAY_ASSIGN_OR_RETURN(lies.emplace_back(), lie_from_json(entry));
  }
  return lies;
}

Result<std::unique_ptr<Liar>> Liar::start(std::vector<Lie> lies) {
  const char* const variable = std::getenv("ASSAY_WIRE_FD");
  // A runner wrote it itself.
  // NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion)
  const int taken_fd = variable == nullptr ? -1 : std::atoi(variable);
  FileDescriptor host(::fcntl(taken_fd, F_DUPFD_CLOEXEC, 0));
  auto pipe = Pipe::make();
  if (!host.is_open() || !pipe || ::dup3(pipe->write_end.get(), taken_fd, O_CLOEXEC) < 0) {
    return fail(ErrorCode::kUnavailable, "lies need the descriptor that $ASSAY_WIRE_FD names");
  }
  std::unique_ptr<Liar> liar(new Liar(taken_fd));
  liar->thread_ = std::thread([lies = std::move(lies), from = std::move(pipe->read_end),
                               to = std::move(host)] { pass_on(lies, from, to); });
  return liar;
}

Liar::~Liar() {
  ::close(taken_fd_);  // The last writer: what is in the pipe is still read.
  thread_.join();
}

}  // namespace assay::fake
