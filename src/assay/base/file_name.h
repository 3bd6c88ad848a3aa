#pragma once

#include <string>
#include <string_view>

namespace assay {

/// A text as the name of a file or folder: ASCII letters, digits, "-", "_" and "." stay, every
/// other byte becomes `instead`. A name that would be empty, hidden or a place ("..") gets
/// `instead` in front. Different texts may have one name.
std::string file_name_from(std::string_view text, char instead = '_');

}  // namespace assay
