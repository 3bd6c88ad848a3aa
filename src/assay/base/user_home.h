#pragma once

#include <filesystem>

namespace assay {

/// True if a path, its links followed, is the folder or lies below it.
bool is_within(const std::filesystem::path& path, const std::filesystem::path& folder);

/// True if a folder holds the user's home ($HOME, else /root): to open it would open all that is
/// private. True for a path that leads nowhere.
bool holds_home(const std::filesystem::path& folder);

/// True if a sandbox opens a file, or a folder with all that is in it: none that holds the home or
/// an access token of Hugging Face, nothing of /proc and /dev, whose files are devices and whole
/// disks, and not /dev/shm as a whole, which other programs share. Neither pipes nor devices.
bool is_opened_as_a_whole(const std::filesystem::path& folder);

/// True if a path, its links followed, is in a cache of the user: ~/.cache, $XDG_CACHE_HOME or
/// $HF_HOME. Not the access tokens of Hugging Face there: no file directly in its folder, and no
/// folder that holds that one.
bool is_in_user_cache(const std::filesystem::path& path);

/// True if a path, its links followed, is in a hidden file or folder of the user's home, such as
/// ~/.ssh, that is no cache and has no installed programs; in /proc or /dev (but /dev/shm), whose
/// files are those of whoever opens them; or is or holds an access token of Hugging Face.
bool is_hidden_in_home(const std::filesystem::path& path);

}  // namespace assay
