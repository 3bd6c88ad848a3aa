#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "assay/base/result.h"

namespace assay {

/// One of the files that make up a finished program.
struct ProgramFile {
  std::string name;  ///< Relative to the program's folder.
  std::string role;  ///< "program" for the one that is loaded, "data" for what it refers to.
};

/// All files of a program: itself first, then what it keeps its weights in, in the order in which
/// it refers to them. That is the external data of an .onnx, the .bin of an .xml, and the .ptd of a
/// .pte: those that the manifest.json of `assay aot --out` next to it lists, or else the one of the
/// program's own name. A file of another format is alone.
/// Errors: kNotFound for a file that the program refers to and that is not there; kInvalidArgument
/// for one outside of the program's folder, which no copy of the program could have.
Result<std::vector<ProgramFile>> find_program_files(const std::filesystem::path& program);

/// Identifies a program: the SHA-256 of its file, or, where it has several, of the digests of
/// all in the order of find_program_files. Names do not enter, nor the place. Errors: as
/// find_program_files, and those of reading.
Result<std::string> digest_program(const std::filesystem::path& program);

}  // namespace assay
