#include "features/site/access.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// Compares ASCII in any case of its letters.
bool is_equal_word(std::string_view a, std::string_view b) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return std::ranges::equal(a, b, {}, lower, lower);
}

/// Schemes do not tell upper from lower case (RFC 9110, 11.1).
std::string token_of(std::string_view authorization) {
  if (authorization.size() > 2 * kMostCharacters) {
    return {};
  }
  const auto scheme = authorization.substr(0, authorization.find(' '));
  auto rest = authorization.substr(scheme.size());
  rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of(' ')));
  if (is_equal_word(scheme, "bearer")) {
    return std::string(rest);
  }
  return is_equal_word(scheme, "basic") ? password_of_basic(rest) : std::string();
}

/// Names do not tell upper from lower case (RFC 4343).
bool is_localhost(std::string_view name) { return is_equal_word(name, "localhost"); }

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

/// A Host header as the name or address, with its brackets, and what is behind it.
std::pair<std::string_view, std::string_view> split_host(std::string_view host) {
  const auto bracket = host.starts_with('[') ? host.find(']') : std::string_view::npos;
  const auto end = bracket == std::string_view::npos ? host.find(':') : bracket + 1;
  const auto name = host.substr(0, end);
  return {name, host.substr(name.size())};
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
  const auto [name, rest] = split_host(host);
  if (!is_port(rest)) {
    return false;
  }
  return name.starts_with('[') ? is_loopback_ip6(name.substr(1, name.size() - 2))
                               : is_localhost(name) || is_loopback_ip4(name);
}

bool is_host_of(std::string_view host, const std::vector<std::string>& names) {
  const auto parts = split_host(host);
  return is_port(parts.second) && std::ranges::any_of(names, [&parts](const std::string& name) {
           return is_equal_word(parts.first, name);
         });
}

}  // namespace assay::site
