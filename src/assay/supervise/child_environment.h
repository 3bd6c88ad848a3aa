#pragma once

#include <map>
#include <string>
#include <string_view>

namespace assay {

/// The variables of this process that an engine or a toolchain may need: of the system (PATH, HOME,
/// LANG), of the loader, of threads and numerics, of engines, and those of Assay itself. What is
/// none of these stays here, and so does what its name tells to be a secret (TOKEN, KEY, SECRET,
/// PASSWORD, CREDENTIAL, TF_VAR_*), and ASSAY_STORE, which may hold a password. ASSAY_PASS_ENV adds
/// names ("A,B_*"), of secrets too.
///
/// Search paths lose their empty entries and are made absolute: a child runs in a folder of its
/// own.
std::map<std::string, std::string> child_environment();

/// True if a variable of this name is handed on; `passed`: the content of ASSAY_PASS_ENV.
bool is_passed_on(std::string_view name, std::string_view passed);

}  // namespace assay
