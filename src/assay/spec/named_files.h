#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "assay/base/result.h"

namespace assay {

/// True if a file describes a program by command lines: *.command.json.
bool is_command_program(const std::filesystem::path& program);

/// Files that a command program (*.command.json) names and that it computes with: the first
/// argument of each step if it has a slash, every other argument that is a path or holds {folder}
/// before one, and its places. Relative to the program's folder where they lie below it, else
/// absolute; each once, sorted. Left out: what is not there, what lies in a build (the engine build
/// has its digest), what PATH finds, what `read_files` names, which the command writes, and what
/// lies in /proc or /sys. Empty for a program of another format, or one that cannot
/// be read.
std::vector<std::string> find_named_files(const std::filesystem::path& program);

/// Digest of their contents: two command programs of one text may execute different files. Empty
/// if there are none. Errors: those of reading.
Result<std::string> digest_named_files(const std::filesystem::path& program);

}  // namespace assay
