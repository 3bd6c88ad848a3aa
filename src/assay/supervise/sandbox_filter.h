#pragma once

namespace assay {

/// Refuses the system calls that a program in a box has no use for: sockets, looking into other
/// processes, mounting, kernel modules, keys, new user namespaces. With `guards_files` also those
/// that change the size, mode, owner, times or attributes of a file without opening it for writing,
/// which Landlock lets pass: in its own folder, too. For the calling process and all that it
/// starts; it must have no_new_privs. No allocation. Returns 0 or an errno.
int install_sandbox_filter(bool guards_files);

}  // namespace assay
