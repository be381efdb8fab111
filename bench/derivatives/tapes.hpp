// Derivatives by tapes: a function is recorded once and replayed at each point.
#pragma once

#include "derivatives/problem.hpp"
#include "derivatives/scalars.hpp"

#include <cstddef>
#include <vector>

namespace bench {

#ifdef BENCH_ADOLC
inline short next_tape = 0;

/// ADOL-C's tape of a function of `problem`.
template <class Problem> class adolc_tape {
 public:
  explicit adolc_tape(const Problem& problem)
      : size(problem.point.size()), count(results_of(problem)), result(count * size), ones(size, 1) {
    std::vector<adouble> x(size), y(count);
    trace_on(tag);
    for (std::size_t i = 0; i < size; ++i) x[i] <<= problem.point[i];
    evaluate(problem, x.data(), y.data());
    for (const adouble& each : y) {
      double value = 0;
      adouble(each) >>= value;
    }
    trace_off();
    for (std::size_t i = 0; i < count; ++i) rows.push_back(result.data() + i * size);
  }
  const std::vector<double>& gradient(const std::vector<double>& x) {
    ::gradient(tag, static_cast<int>(size), x.data(), result.data());
    return result;
  }
  /// Rows are results.
  const std::vector<double>& jacobian(const std::vector<double>& x) {
    ::jacobian(tag, static_cast<int>(count), static_cast<int>(size), x.data(), rows.data());
    return result;
  }
  /// The gradient by the Hessian's row sums, element by element.
  const std::vector<double>& newton_direction(const std::vector<double>& x) {
    std::vector<double> sums(size), at = x;
    hess_vec(tag, static_cast<int>(size), at.data(), ones.data(), sums.data());
    gradient(x);
    for (std::size_t i = 0; i < size; ++i) result[i] /= sums[i];
    return result;
  }

 private:
  short tag = next_tape++;
  std::size_t size, count;
  std::vector<double> result, ones;
  std::vector<double*> rows;
};
#endif

#ifdef BENCH_CPPAD
/// CppAD's optimised record of a function of `problem`.
template <class Problem> class cppad_tape {
 public:
  explicit cppad_tape(const Problem& problem) : count(results_of(problem)) {
    std::vector<cppad_number> x(problem.point.begin(), problem.point.end()), y(count);
    CppAD::Independent(x);
    evaluate(problem, x.data(), y.data());
    function.Dependent(x, y);
    function.optimize();
    function.check_for_nan(false);
  }
  const std::vector<double>& gradient(const std::vector<double>& x) {
    function.Forward(0, x);
    result = function.Reverse(1, std::vector<double>{1});
    return result;
  }
  /// Rows are results: one after another where they are the fewer, and otherwise all columns at once.
  const std::vector<double>& jacobian(const std::vector<double>& x) {
    const std::size_t size = x.size();
    function.Forward(0, x);
    result.resize(count * size);
    if (count < size)
      for (std::size_t i = 0; i < count; ++i) {
        std::vector<double> along(count);
        along[i] = 1;
        const std::vector<double> row = function.Reverse(1, along);
        std::copy(row.begin(), row.end(), result.begin() + static_cast<std::ptrdiff_t>(i * size));
      }
    else {
      std::vector<double> along(size * size);
      for (std::size_t j = 0; j < size; ++j) along[j * size + j] = 1;
      result = function.Forward(1, size, along);
    }
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
  std::size_t count;
  std::vector<double> result;
};
#endif

/// The derivative at x by a tape.
template <class Problem, class Tape>
const std::vector<double>& differentiate_by(Tape& tape, const Problem& problem, const std::vector<double>& x,
                                            std::vector<double>& result) {
  if constexpr (has_parts<Problem>) {
    problem.jacobian_by([&](const std::vector<double>& at) { return tape.jacobian(at).data(); }, x.data(),
                        result.data());
    return result;
  } else if constexpr (has_direction<Problem>) return tape.newton_direction(x);
  else if constexpr (has_values<Problem>) return tape.jacobian(x);
  else return tape.gradient(x);
}

} // namespace bench
