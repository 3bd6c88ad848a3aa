#include "assay/base/limits.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <string_view>
#include <vector>

#include <sys/resource.h>

#include "assay/base/result.h"

namespace assay {
namespace {

struct Limit {
  int cause;
  int resource;
  std::string_view may;   ///< "this process may …", with the number.
  std::string_view flag;  ///< Flag of ulimit.
  rlim_t divisor = 1;     ///< The unit of `may`.
};

constexpr auto kLimits = std::to_array<Limit>({
    {EMFILE, RLIMIT_NOFILE, "open {} files", "-n"},
    {EAGAIN, RLIMIT_AS, "have {} kB of addresses", "-v", 1024},  // For the stack of a thread.
    {EAGAIN, RLIMIT_NPROC, "have {} processes and threads", "-u"},
    {ENOMEM, RLIMIT_AS, "have {} kB of addresses", "-v", 1024},
    {EFBIG, RLIMIT_FSIZE, "write files of {} kB", "-f", 1024},
});

/// Those in force that may be behind a cause, in words.
std::vector<std::string> limits_behind(int cause) {
  std::vector<std::string> limits;
  for (const auto& limit : kLimits) {
    rlimit current{};
    if (limit.cause == cause &&
        ::getrlimit(static_cast<__rlimit_resource_t>(limit.resource), &current) == 0 &&
        current.rlim_cur != RLIM_INFINITY) {
      limits.push_back(fmt::format(
          "{} (ulimit {})", fmt::format(fmt::runtime(limit.may), current.rlim_cur / limit.divisor),
          limit.flag));
    }
  }
  return limits;
}

}  // namespace

bool is_limited(int cause) { return !limits_behind(cause).empty(); }

std::string hint_at_limits(int cause) {
  const auto limits = limits_behind(cause);
  return limits.empty()
             ? ""
             : fmt::format("; this process may {}: raise that limit", fmt::join(limits, " and "));
}

std::string text_from_errno(int cause) { return std::strerror(cause) + hint_at_limits(cause); }

ErrorCode code_from_errno(int cause) {
  switch (cause) {
    case EMFILE:
    case ENFILE:
    case EAGAIN:
    case ENOMEM:
    case EFBIG:
    case ENOSPC:
    case EDQUOT:
      return ErrorCode::kExhausted;
    case ENOENT:
      return ErrorCode::kNotFound;
    default:
      return ErrorCode::kUnavailable;
  }
}

}  // namespace assay
