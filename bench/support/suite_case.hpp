// What the cases of `scripts/bench` are made of. Each prints a digest of its result, the mean size of its elements,
// which has to be the same whoever computes it.
#pragma once

#include <parallax/parallax.hpp>

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#if __has_include(<Eigen/Dense>)
#include <Eigen/Dense>
#define PARALLAX_BENCH_EIGEN
#endif

namespace bench {

namespace plx = parallax;

using vector = plx::array<float, 1>;
using matrix = plx::array<float, 2>;

/// sin(i / 1000 + phase) in row-major order: `suite_in_python.py` makes the same.
template <class Array> Array waves(const typename Array::shape_type& shape, double phase) {
  using element = std::remove_pointer_t<decltype(Array::uninitialised(shape).mutable_data())>;
  Array result = Array::uninitialised(shape);
  for (std::int64_t i = 0; i < result.size(); ++i)
    result.mutable_data()[i] = static_cast<element>(std::sin(static_cast<double>(i) * 0.001 + phase));
  return result;
}

template <class T> double digest(const T* values, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += std::abs(static_cast<double>(values[i]));
  return sum / static_cast<double>(count);
}
inline double digest(std::span<const double> x) { return digest(x.data(), static_cast<std::int64_t>(x.size())); }
template <class T, auto Shape> double digest(const plx::array<T, Shape>& x) { return digest(x.data(), x.size()); }
template <class T, auto Shape> double digest(const plx::sharded<T, Shape>& x) { return digest(x.gather()); }
template <class A, class B> double digest(const std::pair<A, B>& x) { return digest(x.first); }
#ifdef PARALLAX_BENCH_EIGEN
template <class T> double digest(const Eigen::PlainObjectBase<T>& x) { return digest(x.data(), x.size()); }
template <class T> double digest(const std::shared_ptr<T>& x) { return digest(*x); }
#endif

/// A case under the name "<case>/<who>": `run()` computes the result. `bytes` is what has to be moved at the least.
template <class Run> void add(const std::string& name, double bytes, Run run) {
  benchmark::RegisterBenchmark(name.c_str(), [bytes, run](benchmark::State& state) {
    auto result = run();
    result = run(); // into memory that has been touched, as the first result is still there
    for (auto _ : state) benchmark::DoNotOptimize(result = run());
    state.counters["digest"] = digest(result);
    state.counters["bytes"] = bytes;
  })->UseRealTime();
}

} // namespace bench
