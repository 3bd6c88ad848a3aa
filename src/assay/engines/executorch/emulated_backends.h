#pragma once

#include <span>
#include <string>

namespace assay::et {

/// Names the emulator that executes a program with these delegates here, for LoadReport::emulator:
/// "QNN's emulator of HTP". Empty: none of them is emulated.
std::string emulator_of(std::span<const std::string> backends);

}  // namespace assay::et
