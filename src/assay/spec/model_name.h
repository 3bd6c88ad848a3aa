#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"

namespace assay {

/// The complaint about a reference library:name that certainly names no model; empty when it names
/// one, or when only a toolchain can tell. Networks of torchvision are known by name, of other
/// libraries a mistyped prefix is found.
std::string complaint_about_model_name(std::string_view ref);

/// Names that a Python file defines for everybody, functions first; empty if it cannot be read.
std::vector<std::string> factories_in(const std::string& file);

/// Checks that a Python file defines what file.py:NAME refers to, without running it: a name that
/// stands nowhere in the file is refused, with did-you-mean. A file that may make names as it runs
/// (import *, globals, setattr and the like) is left to the toolchain.
///
/// `where` opens the message. Errors: kNotFound (no such name), kInvalidArgument (no name is
/// given).
Status check_factory(const std::string& reference, std::string_view where);

}  // namespace assay
