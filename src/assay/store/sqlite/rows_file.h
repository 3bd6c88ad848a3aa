#pragma once

#include <filesystem>
#include <functional>

#include "assay/base/result.h"
#include "assay/store/sql/merge.h"

namespace assay::sqlite {

/// Makes a store in a new file of the rows that `give` gives to its argument. The file appears
/// whole, or not at all.
Status make_store_of_rows(const std::filesystem::path& file,
                          const std::function<Status(sql::RowTarget&)>& give);

}  // namespace assay::sqlite
