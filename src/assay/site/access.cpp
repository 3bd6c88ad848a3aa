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

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

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

/// Names do not tell upper from lower case (RFC 4343).
bool is_localhost(std::string_view name) {
  constexpr std::string_view kName = "localhost";
  return std::ranges::equal(name, kName, {}, [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
}

/// Takes numeric addresses of 127.0.0.0/8 only: "127.0.0.1.example.org" is a name that anybody may
/// own.
bool is_loopback_ip4(std::string_view address) {
  in_addr parsed{};
  return inet_pton(AF_INET, std::string(address).c_str(), &parsed) == 1 &&
         ntohl(parsed.s_addr) >> 24U == 127;
}

bool is_loopback_ip6(std::string_view address) {
  in6_addr parsed{};
  return inet_pton(AF_INET6, std::string(address).c_str(), &parsed) == 1 &&
         IN6_IS_ADDR_LOOPBACK(&parsed);
}

/// Takes the text behind a host's name: nothing, or ":8080".
bool is_port(std::string_view text) {
  return text.empty() || (text.starts_with(':') &&
                          text.find_first_not_of("0123456789", 1) == std::string_view::npos);
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
  return is_localhost(address) || is_loopback_ip4(address) || is_loopback_ip6(address);
}

bool is_loopback_host(std::string_view host) {
  const bool has_brackets = host.starts_with('[');
  const auto end = has_brackets ? host.find(']') : host.find(':');
  if (has_brackets && end == std::string_view::npos) {
    return false;
  }
  const auto name = has_brackets ? host.substr(1, end - 1) : host.substr(0, end);
  const auto rest = host.substr(std::min(host.size(), has_brackets ? end + 1 : end));
  if (!is_port(rest)) {
    return false;
  }
  return has_brackets ? is_loopback_ip6(name) : is_localhost(name) || is_loopback_ip4(name);
}

}  // namespace assay::site
