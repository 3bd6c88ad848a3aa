#pragma once

namespace fixedpoint::bench {

/// Dense 3x3 layers both ways, directly and by Winograd, of many sizes: what the rules of
/// `make_conv2d` that choose between them were derived from.
void add_winograd(double frequency);

}  // namespace fixedpoint::bench
