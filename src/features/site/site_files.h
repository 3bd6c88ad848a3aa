#pragma once

#include <string>
#include <vector>

#include "assay/report/html_page.h"

namespace assay::site {

/// All files of the folder assets/ of a site.
std::vector<report::SharedFile> site_files(const std::string& data_folder);

}  // namespace assay::site
