// Gradients by tapes: a function is recorded once and replayed at each point.
#pragma once

#include "derivatives/scalars.hpp"

#include <cstddef>
#include <vector>

namespace bench {

#ifdef BENCH_ADOLC
inline short next_tape = 0;

/// ADOL-C's tape of a function of `problem`.
template <class Problem> class adolc_tape {
 public:
  explicit adolc_tape(const Problem& problem) : size(problem.point.size()), result(size), ones(size, 1) {
    std::vector<adouble> x(size);
    trace_on(tag);
    for (std::size_t i = 0; i < size; ++i) x[i] <<= problem.point[i];
    double value = 0;
    problem.value(x.data()) >>= value;
    trace_off();
  }
  const std::vector<double>& gradient(const std::vector<double>& x) {
    ::gradient(tag, static_cast<int>(size), x.data(), result.data());
    return result;
  }
  /// The gradient by the Hessian's row sums, element by element.
  const std::vector<double>& newton_direction(const std::vector<double>& x) {
    std::vector<double> rows(size), at = x;
    hess_vec(tag, static_cast<int>(size), at.data(), ones.data(), rows.data());
    gradient(x);
    for (std::size_t i = 0; i < size; ++i) result[i] /= rows[i];
    return result;
  }

 private:
  short tag = next_tape++;
  std::size_t size;
  std::vector<double> result, ones;
};
#endif

#ifdef BENCH_CPPAD
/// CppAD's optimised record of a function of `problem`.
template <class Problem> class cppad_tape {
 public:
  explicit cppad_tape(const Problem& problem) {
    std::vector<cppad_number> x(problem.point.begin(), problem.point.end()), y(1);
    CppAD::Independent(x);
    y[0] = problem.value(x.data());
    function.Dependent(x, y);
    function.optimize();
    function.check_for_nan(false);
  }
  const std::vector<double>& gradient(const std::vector<double>& x) {
    function.Forward(0, x);
    result = function.Reverse(1, std::vector<double>{1});
    return result;
  }
  /// The gradient by the Hessian's row sums, element by element.
  const std::vector<double>& newton_direction(const std::vector<double>& x) {
    function.Forward(0, x);
    function.Forward(1, std::vector<double>(x.size(), 1));
    const std::vector<double> both = function.Reverse(2, std::vector<double>{1});
    result.resize(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) result[i] = both[2 * i] / both[2 * i + 1];
    return result;
  }

 private:
  CppAD::ADFun<double> function;
  std::vector<double> result;
};
#endif

} // namespace bench
