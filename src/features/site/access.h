#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"

namespace assay::site {

enum class Right : std::uint8_t { kRead, kAdd };

/// Secrets that clients show. A token has one right: the one that reads cannot add, and the other
/// way round.
struct Tokens {
  std::string read;  ///< Empty: who reaches the server may read.
  std::string add;   ///< Empty: nobody may add.
};

/// Places of the tokens; a token itself is never an argument, which every process could see.
struct TokenFiles {
  std::filesystem::path read;
  std::filesystem::path add;
};

inline constexpr const char* kReadTokenVariable = "ASSAY_SITE_READ_TOKEN";
inline constexpr const char* kAddTokenVariable = "ASSAY_SITE_ADD_TOKEN";

/// Reads the files, and where one is not named the environment. Errors: those of the files;
/// kInvalidArgument for a token of less than 16 characters, and for two that are equal.
Result<Tokens> read_tokens(const TokenFiles& files);

enum class Access : std::uint8_t {
  kAllowed,
  kUnknown,    ///< No token, or a wrong one.
  kForbidden,  ///< A token of the other right, or nobody has the right.
};

/// Checks the value of an Authorization header: "Bearer TOKEN", or "Basic …" with the token as the
/// password, which browsers ask for. Takes the same time for every wrong token of one length.
Access check_access(const Tokens& tokens, Right right, std::string_view authorization);

/// True if an address that is listened on is this machine alone: "127.0.0.1", "::1", "localhost".
bool is_loopback(std::string_view address);

/// True if a Host header names this machine, so that a page of another site that its own name leads
/// here (DNS rebinding) reads nothing. `host`: "localhost:8080", "[::1]:8080".
bool is_loopback_host(std::string_view host);

/// True if a Host header, with any port, is one of the names.
bool is_host_of(std::string_view host, const std::vector<std::string>& names);

}  // namespace assay::site
