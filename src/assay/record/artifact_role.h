#pragma once

namespace assay {

/// ArtifactFile::role of a file that a command program names: its digest belongs to the artifact,
/// but it stays where it is, and neither an engine nor a device is given it with the program. Its
/// name is relative to the artifact's folder or absolute.
inline constexpr const char* kNamedRole = "named";

}  // namespace assay
