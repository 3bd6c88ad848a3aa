#pragma once

namespace fixedpoint::bench {

/// Registers inverted residual blocks of MobileNets, layer by layer and by strips of rows whose
/// expanded values stay in a near cache.
void add_strips();

}  // namespace fixedpoint::bench
