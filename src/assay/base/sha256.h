#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace assay {

/// SHA-256 of bytes that come in parts. A copy goes on by itself from what its origin has taken.
class Sha256 {
 public:
  Sha256();
  Sha256(const Sha256& other);
  Sha256(Sha256&& other) noexcept;
  Sha256& operator=(const Sha256& other);
  Sha256& operator=(Sha256&& other) noexcept;
  ~Sha256();

  void add(std::string_view bytes);
  /// 64 lower-case hexadecimal digits, of the parts until now.
  [[nodiscard]] std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace assay
