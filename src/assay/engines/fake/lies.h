#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/wire/frame.h"

namespace assay::fake {

/// A change to the answer of one type, on its way from the runner to the host:
///
///     {"answer": "measure", "body": {"iterations": 0}, "blob_hex": "00ff", "type": "load",
///      "copies": 2}
///
/// `body` is merged into the answer's own (RFC 7396, null takes a field away), `blob_hex` takes the
/// place of its blob, `type` that of its type, and it is sent `copies` times. All but `answer` are
/// optional.
struct Lie {
  wire::MessageType answer = wire::MessageType::kHello;
  Json body = Json::object();
  std::optional<std::vector<std::byte>> blob;
  std::optional<wire::MessageType> type;
  int copies = 1;
};

/// Errors: kCorrupt.
Result<std::vector<Lie>> lies_from_json(const Json& json);

/// Stands between this runner and its host: takes the place of the descriptor in $ASSAY_WIRE_FD,
/// and passes every frame on that is written to it, changed as the lies say. Its end waits until
/// all of them are through.
class Liar {
 public:
  /// Errors: kUnavailable where there is no such descriptor.
  static Result<std::unique_ptr<Liar>> start(std::vector<Lie> lies);
  Liar(const Liar&) = delete;
  Liar& operator=(const Liar&) = delete;
  ~Liar();

 private:
  explicit Liar(int taken_fd) : taken_fd_(taken_fd) {}

  int taken_fd_;
  std::thread thread_;
};

}  // namespace assay::fake
