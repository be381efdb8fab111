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
  std::function<void()> enqueue; ///< gives device 0 the work once, and does not wait for it
};

/// A case whose operands lie on the device.
struct prepared_case {
  std::vector<contender> contenders; ///< ours first
  std::function<void()> check;       ///< throws unless all give the same
};

/// What one call of a case does, and the least time that the hardware needs for it.
struct gpu_case {
  enum class measure {
    arithmetic, ///< `work` floating-point operations, reported in TFLOP/s
    traffic,    ///< `work` bytes read or written, reported in GB/s
    host_time,  ///< what the host needs to enqueue, reported in microseconds
  };
  std::string name; ///< as "matmul, f32, n = 1024"
  measure what = measure::traffic;
  double work = 0;
  double least_seconds = 0; ///< 0 where it is not known
  std::string limited_by;   ///< what that follows from
  std::function<prepared_case()> prepare;

  std::string unit() const {
    return what == measure::arithmetic ? "TFLOP/s" : what == measure::traffic ? "GB/s" : "us";
  }
  /// What is reported where a call takes so long.
  double value_of(double seconds) const {
    return what == measure::host_time    ? seconds * 1e6
           : what == measure::arithmetic ? work / seconds * 1e-12
                                         : work / seconds * 1e-9;
  }
};

} // namespace bench
