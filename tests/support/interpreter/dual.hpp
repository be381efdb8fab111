// Numbers with a derivative, for the interpreter: forward mode, which has nothing in common with what it is to check.
#pragma once

#include <cmath>

namespace properties {

template <class N> struct dual {
  N value{}, tangent{};

  dual() = default;
  dual(double x) : value(x) {} // NOLINT(google-explicit-constructor)
  dual(N x, N t) : value(x), tangent(t) {}

  friend dual operator+(const dual& x, const dual& y) { return {x.value + y.value, x.tangent + y.tangent}; }
  friend dual operator-(const dual& x, const dual& y) { return {x.value - y.value, x.tangent - y.tangent}; }
  friend dual operator*(const dual& x, const dual& y) {
    return {x.value * y.value, x.value * y.tangent + x.tangent * y.value};
  }
  friend dual operator/(const dual& x, const dual& y) {
    const N quotient = x.value / y.value;
    return {quotient, (x.tangent - quotient * y.tangent) / y.value};
  }
};

inline double plain(double x) { return x; }
template <class N> double plain(const dual<N>& x) { return plain(x.value); }

inline double sine(double x) { return std::sin(x); }
inline double cosine(double x) { return std::cos(x); }
inline double hyperbolic(double x) { return std::tanh(x); }
inline double exponential(double x) { return std::exp(x); }
inline double logarithm(double x) { return std::log(x); }
template <class N> dual<N> cosine(const dual<N>& x);
template <class N> dual<N> sine(const dual<N>& x) { return {sine(x.value), cosine(x.value) * x.tangent}; }
template <class N> dual<N> cosine(const dual<N>& x) { return {cosine(x.value), N(0.) - sine(x.value) * x.tangent}; }
template <class N> dual<N> hyperbolic(const dual<N>& x) {
  const N result = hyperbolic(x.value);
  return {result, (N(1.) - result * result) * x.tangent};
}
template <class N> dual<N> exponential(const dual<N>& x) {
  const N result = exponential(x.value);
  return {result, result * x.tangent};
}
template <class N> dual<N> logarithm(const dual<N>& x) { return {logarithm(x.value), x.tangent / x.value}; }

} // namespace properties
