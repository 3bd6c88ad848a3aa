#include "assay/record/repository.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "assay/base/json.h"

namespace assay {

std::string Repository::id() const { return digest_of_json(*this); }

std::string short_hash(const std::string& hash) {
  constexpr std::size_t kDigits = 12;
  return hash.substr(0, kDigits);
}

ASSAY_DEFINE_JSON(Repository, kind, url, engine)
ASSAY_DEFINE_JSON(Revision, repository, hash, parents, position, author, authored_unix_ns,
                  committed_unix_ns, subject)

}  // namespace assay
