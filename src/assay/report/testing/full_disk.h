#pragma once

#include <ios>
#include <streambuf>

namespace assay::report {

/// A stream that takes `room` bytes and then is full.
class FullDisk : public std::streambuf {
 public:
  explicit FullDisk(std::streamsize room) : room_(room) {}

 protected:
  int_type overflow(int_type c) override {
    return room_-- > 0 ? traits_type::not_eof(c) : traits_type::eof();
  }

 private:
  std::streamsize room_;
};

}  // namespace assay::report
