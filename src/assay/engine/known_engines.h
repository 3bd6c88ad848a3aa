#pragma once

#include <span>
#include <string>
#include <string_view>

namespace assay {

/// An engine that comes with Assay.
struct KnownEngine {
  std::string name;
  std::string how_to_get;      ///< What to do where its runner is not there.
  std::string how_to_install;  ///< What brings the libraries of its runner; empty: they are in it.
  bool is_in_python = false;   ///< Its runner starts an interpreter.
};

/// python/assay/data/engines.json, which Python and the build read too, in the order in which
/// engines are listed.
std::span<const KnownEngine> known_engines();

/// Whether it is one of Assay's engines in Python.
bool is_known_in_python(std::string_view name);

}  // namespace assay
