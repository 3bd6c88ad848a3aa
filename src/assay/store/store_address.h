#pragma once

#include <string_view>

namespace assay {

/// "postgresql://…" or "postgres://…": a store in a database server. Anything else is a file.
bool is_database_url(std::string_view address);

}  // namespace assay
