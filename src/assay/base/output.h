#pragma once

#include <fmt/core.h>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/text.h"

/// The one place that writes to stdout and stderr. Nothing here throws or ends the process: once a
/// stream refuses a text, what follows is dropped, because a reader that went away (`assay run … |
/// head`) must not end a campaign.
namespace assay {

/// Ignores SIGPIPE and SIGXFSZ: a write to a closed pipe, or beyond `ulimit -f`, fails and does not
/// end the process. For the start of a program.
void ignore_signals_of_writes();

/// Writes as is; a document, or a text that is printable already and may hold colours.
void write_stdout(std::string_view text);
void write_stderr(std::string_view text);

/// Formats and writes to stdout, without what could steer a terminal (`printable_lines`).
template <class... Args>
void print_out(fmt::format_string<Args...> format, Args&&... args) {
  write_stdout(printable_lines(fmt::format(format, std::forward<Args>(args)...)));
}

/// A JSON document as text; bytes that are not UTF-8 are replaced. `indent`: -1 for one line.
std::string text_from_json(const Json& document, int indent = -1);

/// The text of a JSON document and the end of the line.
void print_json(const Json& document, int indent = -1);

/// The first refusal of stdout that loses a result: a full disk is one, a reader that has seen
/// enough is none. Errors: kExhausted, kUnavailable.
Status check_stdout();

}  // namespace assay
