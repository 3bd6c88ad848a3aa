#include <memory>
#include <utility>

#include "assay/base/result.h"
#include "assay/store/result_store.h"
#include "assay/store/sqlite/sqlite_store.h"

namespace assay {

// SQLite without a file: the same schema, keys and rounding as on disk, so that what passes here
// passes there.
std::unique_ptr<ResultStore> make_memory_store() {
  auto store = sqlite::SqliteResultStore::open(":memory:");
  ASSAY_CHECK(store.has_value());
  return *std::move(store);
}

}  // namespace assay
