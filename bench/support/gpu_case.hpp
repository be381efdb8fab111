// What is measured on a GPU: cases that Google Benchmark (bench/*.cu) and the program without a framework (tests/gpu/)
// share.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace bench {

/// One way to do the work of a case.
struct contender {
  std::string name;              ///< "parallax", or whose call it is
  std::function<void()> enqueue; ///< gives the devices the work once, and does not wait for it
};

/// A case whose operands lie on the device.
struct prepared_case {
  std::vector<contender> contenders; ///< ours first
  std::function<void()> check;       ///< throws unless all give the same
  std::function<double()> digest;    ///< where it is said: a number of the result that other libraries have to give too
};

/// How fast we want to be: the part of the speed of a limit, a contender or another library.
struct aim {
  std::string of;
  double at_least = 1;
};

/// What one call of a case does, and the least time that the hardware needs for it.
struct gpu_case {
  enum class measure {
    arithmetic,  ///< `work` floating-point operations, reported in TFLOP/s
    traffic,     ///< `work` bytes read or written, reported in GB/s
    device_time, ///< what the device needs, reported in microseconds
    host_time,   ///< what the host needs to enqueue, reported in microseconds
  };
  std::string name; ///< as "matmul, f32, n = 1024"
  measure what = measure::traffic;
  double work = 0;
  std::function<double()> least_seconds;  ///< 0, or no function, where it is not known
  std::string limited_by;                 ///< what that follows from
  std::function<prepared_case()> prepare; ///< no function where only the limit is asked for
  std::vector<aim> aims;
  bool on_all_devices = false; ///< device 0 does the work alone, or the others do a part

  double limit() const { return least_seconds ? least_seconds() : 0; }
  std::string unit() const {
    switch (what) {
    case measure::arithmetic: return "TFLOP/s";
    case measure::traffic: return "GB/s";
    case measure::device_time:
    case measure::host_time: break;
    }
    return "us";
  }
  /// What is reported where a call takes so long.
  double value_of(double seconds) const {
    switch (what) {
    case measure::arithmetic: return work / seconds * 1e-12;
    case measure::traffic: return work / seconds * 1e-9;
    case measure::device_time:
    case measure::host_time: break;
    }
    return seconds * 1e6;
  }
};

} // namespace bench
