#include "assay/store/store_address.h"

#include <memory>
#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/store/result_store.h"

namespace assay {

bool is_database_url(std::string_view address) {
  return address.starts_with("postgresql://") || address.starts_with("postgres://");
}

Result<std::unique_ptr<ResultStore>> open_result_store(const std::string& address,
                                                       StoreAccess access) {
  return is_database_url(address) ? open_postgres_store(address, access)
                                  : open_sqlite_store(address, access);
}

}  // namespace assay
