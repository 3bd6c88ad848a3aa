#pragma once

#include "assay/base/result.h"
#include "assay/store/sqlite/connection.h"

namespace assay::sqlite {

/// A migration: brings all texts to what sql::mended_text() makes of them, and seals the launches
/// anew whose texts that changes. A launch whose seal was wrong before keeps it.
Status mend_texts(Connection& connection);

}  // namespace assay::sqlite
