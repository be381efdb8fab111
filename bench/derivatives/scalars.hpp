// What the problems need of a number that records what is computed with it: the smaller and larger of two, taken anew
// each time a record is replayed.
#pragma once

#include <algorithm>
#include <cmath>

#if !defined(BENCH_NO_TAPES) && __has_include(<adolc/adolc.h>)
#include <adolc/adolc.h>
#define BENCH_ADOLC 1
#endif
#if !defined(BENCH_NO_TAPES) && __has_include(<cppad/cppad.hpp>)
#include <cppad/cppad.hpp>
#define BENCH_CPPAD 1
#endif

namespace bench {

inline double smaller(double a, double b) { return std::min(a, b); }
inline double larger(double a, double b) { return std::max(a, b); }
#ifdef BENCH_ADOLC
inline adouble smaller(const adouble& a, const adouble& b) { return fmin(a, b); }
inline adouble larger(const adouble& a, const adouble& b) { return fmax(a, b); }
#endif
#ifdef BENCH_CPPAD
using cppad_number = CppAD::AD<double>;
inline cppad_number smaller(const cppad_number& a, const cppad_number& b) { return CppAD::CondExpLt(a, b, a, b); }
inline cppad_number larger(const cppad_number& a, const cppad_number& b) { return CppAD::CondExpGt(a, b, a, b); }
#endif

/// log(sum(exp(x))) of `count` numbers, without overflow.
template <class S> S log_sum_exp(const S* x, std::size_t count) {
  using std::exp, std::log;
  S most = x[0];
  for (std::size_t i = 1; i < count; ++i) most = larger(most, x[i]);
  S sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += exp(x[i] - most);
  return most + log(sum);
}

} // namespace bench
