#pragma once

#include <map>
#include <span>
#include <string>

namespace assay {

/// Names for people of the models of one run, by reference: the shortest part of each reference
/// that tells it from the others. "program" where no other is called so; "a_fp32/program" and
/// "a_int8/program"; "net.onnx" and "net.tflite" of one folder; a whole reference where nothing
/// shorter does. Different references never share a name. Pure; O(n log n) for each folder level.
std::map<std::string, std::string> telling_names(std::span<const std::string> refs);

}  // namespace assay
