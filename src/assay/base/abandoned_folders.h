#pragma once

#include <filesystem>

#include "assay/base/result.h"

namespace assay {

/// Folder under which temporary folders are made: $TMPDIR, else /tmp.
std::filesystem::path temporary_base();

/// Makes a temporary folder of Assay's. From the beginning it has the mark of one, the sticky bit,
/// so that a process killed here leaves nothing that stays; then it is in use, by a lock on the
/// folder itself (flock(2)), which the kernel gives up when the process dies. False where the name
/// is taken, or another process has taken it for an abandoned one and removed it. Errors:
/// kExhausted, kUnavailable. Thread-safe.
Result<bool> make_folder_in_use(const std::filesystem::path& folder);

/// Ends the use of a folder that was made so; does nothing of another.
void end_use_of_folder(const std::filesystem::path& folder);

/// Removes this user's marked folders, "assay-jobs.Ab3xY9", whose processes were killed; returns
/// how many. A folder without the mark stays whatever its name is: it is the user's own.
int remove_abandoned_folders();

}  // namespace assay
