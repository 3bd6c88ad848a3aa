#pragma once

#include <map>
#include <span>
#include <string>

namespace assay {

/// Names for people of the models of one run, by reference: the shortest part of each reference
/// that tells it from the others. "net" where no other is called so; "a/net" and "b/net";
/// "net.onnx" and "net.tflite" of one folder; a whole reference where nothing shorter does. Files
/// called "program" or "model", which says nothing, have their folder: "a_int8/program". Different
/// references never share a name. Pure; O(n log n) for each folder level.
std::map<std::string, std::string> telling_names(std::span<const std::string> refs);

}  // namespace assay
