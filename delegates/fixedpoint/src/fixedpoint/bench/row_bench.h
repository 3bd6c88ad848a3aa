#pragma once

namespace fixedpoint::bench {

/// Registers layers of a single row, which have to read their weights and nothing more, each beside
/// a plain read of as many bytes.
void add_rows();

}  // namespace fixedpoint::bench
