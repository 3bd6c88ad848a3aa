#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "assay/base/result.h"
#include "assay/engine/session.h"
#include "assay/tensor/tensor.h"

namespace assay {

/// Keeps an engine busy: one thread a session, each inferring again and again until it is stopped.
class Streams {
 public:
  /// Every session infers once, one after the other, before the threads start: what is slow once is
  /// over then. `inputs` outlive the object. Errors: of that inference.
  static Result<std::unique_ptr<Streams>> start(std::vector<std::unique_ptr<Session>> sessions,
                                                std::span<const TensorView> inputs);

  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  ~Streams();

  /// Inferences that have ended, of all threads, since they started.
  [[nodiscard]] std::int64_t count() const;

  /// True if a thread has ended by itself, which only a failure makes it.
  [[nodiscard]] bool has_failed() const;

  /// Ends the threads. Errors: the first failure of an inference.
  Status stop();

 private:
  struct Stream;
  Streams() = default;
  std::vector<std::unique_ptr<Stream>> streams_;
};

}  // namespace assay
