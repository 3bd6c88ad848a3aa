// The low-level SHA256_* calls, deprecated in OpenSSL 3, are meant: EVP pulls in the provider
// loader, which a static assay-agent cannot carry (dlopen) and which costs milliseconds at start.
#define OPENSSL_SUPPRESS_DEPRECATED

#include "assay/base/sha256.h"

#include <array>
#include <fmt/format.h>
#include <memory>
#include <openssl/sha.h>
#include <string>
#include <string_view>

namespace assay {

struct Sha256::State {
  SHA256_CTX context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) { SHA256_Init(&state_->context); }
Sha256::Sha256(const Sha256& other) : state_(std::make_unique<State>(*other.state_)) {}
Sha256::Sha256(Sha256&& other) noexcept = default;
Sha256& Sha256::operator=(const Sha256& other) { return *this = Sha256(other); }
Sha256& Sha256::operator=(Sha256&& other) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::add(std::string_view bytes) {
  SHA256_Update(&state_->context, bytes.data(), bytes.size());
}

std::string Sha256::hex() const {
  auto context = state_->context;
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256_Final(digest.data(), &context);
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace assay
