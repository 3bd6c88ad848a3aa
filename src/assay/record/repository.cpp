#include "assay/record/repository.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "assay/base/json.h"

namespace assay {

std::string Repository::id() const { return digest_of_json(*this); }

std::string short_hash(const std::string& hash) {
  constexpr std::size_t kDigits = 12;
  constexpr std::string_view kHexDigits = "0123456789abcdef";
  const bool is_hash = hash.find_first_not_of(kHexDigits) == std::string::npos;
  return is_hash ? hash.substr(0, kDigits) : hash;
}

ASSAY_DEFINE_JSON(Repository, kind, url, engine)
ASSAY_DEFINE_JSON(Revision, repository, hash, parents, position, author, authored_unix_ns,
                  committed_unix_ns, subject)

}  // namespace assay
