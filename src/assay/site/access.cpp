#include "assay/site/access.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string>
#include <string_view>

#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"

namespace assay::site {
namespace {

constexpr std::size_t kFewestCharacters = 16;
constexpr std::size_t kMostCharacters = 1024;

std::string trimmed(const std::string& text) {
  constexpr const char* kSpace = " \t\r\n";
  const auto first = text.find_first_not_of(kSpace);
  return first == std::string::npos ? std::string()
                                    : text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

Result<std::string> read_token(const std::filesystem::path& file, const char* variable) {
  std::string token;
  if (!file.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const auto content, read_file(file, kMostCharacters));
    token = trimmed(content);
    if (token.empty()) {
      return fail(ErrorCode::kInvalidArgument, fmt::format("'{}' holds no token", file.string()));
    }
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here sets the environment.
  } else if (const char* const value = std::getenv(variable); value != nullptr) {
    token = trimmed(value);
  }
  if (!token.empty() && token.size() < kFewestCharacters) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("a token has at least {} characters; `openssl rand -hex 16` makes one",
                            kFewestCharacters));
  }
  return token;
}

/// Compares digests, so that neither length nor content of the secret shows in the time.
bool is_equal_secret(std::string_view secret, std::string_view shown) {
  const auto a = sha256_hex(secret);
  const auto b = sha256_hex(shown);
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string password_of_basic(std::string_view encoded) {
  std::string decoded(encoded.size() + 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(decoded.data()),
                                   reinterpret_cast<const unsigned char*>(encoded.data()),
                                   static_cast<int>(encoded.size()));
  if (size < 0) {
    return {};
  }
  // It counts what the padding stands for, too.
  const auto padding = encoded.size() - std::min(encoded.size(), encoded.find_last_not_of('=') + 1);
  decoded.resize(static_cast<std::size_t>(size) - std::min<std::size_t>(padding, 2));
  const auto colon = decoded.find(':');
  return colon == std::string::npos ? std::string() : decoded.substr(colon + 1);
}

std::string token_of(std::string_view authorization) {
  constexpr std::string_view kBearer = "Bearer ";
  constexpr std::string_view kBasic = "Basic ";
  if (authorization.size() > 2 * kMostCharacters) {
    return {};
  }
  if (authorization.starts_with(kBearer)) {
    return std::string(authorization.substr(kBearer.size()));
  }
  return authorization.starts_with(kBasic) ? password_of_basic(authorization.substr(kBasic.size()))
                                           : std::string();
}

}  // namespace

Result<Tokens> read_tokens(const TokenFiles& files) {
  Tokens tokens;
  ASSAY_ASSIGN_OR_RETURN(tokens.read, read_token(files.read, kReadTokenVariable));
  ASSAY_ASSIGN_OR_RETURN(tokens.add, read_token(files.add, kAddTokenVariable));
  if (!tokens.read.empty() && tokens.read == tokens.add) {
    return fail(ErrorCode::kInvalidArgument,
                "the token that reads and the token that adds are equal; make two");
  }
  return tokens;
}

Access check_access(const Tokens& tokens, Right right, std::string_view authorization) {
  const auto& wanted = right == Right::kRead ? tokens.read : tokens.add;
  const auto& other = right == Right::kRead ? tokens.add : tokens.read;
  if (wanted.empty()) {
    return right == Right::kRead ? Access::kAllowed : Access::kForbidden;
  }
  const auto shown = token_of(authorization);
  const bool is_right = is_equal_secret(wanted, shown);
  const bool is_other = !other.empty() && is_equal_secret(other, shown);
  return is_right ? Access::kAllowed : is_other ? Access::kForbidden : Access::kUnknown;
}

bool is_loopback(std::string_view address) {
  return address == "localhost" || address == "::1" || address.starts_with("127.");
}

bool is_loopback_host(std::string_view host) {
  if (host.starts_with('[')) {
    return host.starts_with("[::1]");
  }
  return is_loopback(host.substr(0, host.find(':')));
}

}  // namespace assay::site
