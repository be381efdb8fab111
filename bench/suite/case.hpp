// What the cases of `scripts/bench` are made of. Each prints a digest of its result, the mean size of its elements,
// which has to be the same whoever computes it.
#pragma once

#include "limits.hpp"

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
#ifdef PARALLAX_BENCH_EIGEN
using eigen_rows = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
#endif

/// sin(i / 1000 + phase) in row-major order: `peers.py` makes the same.
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
#ifdef PARALLAX_BENCH_EIGEN
template <class T> double digest(const Eigen::PlainObjectBase<T>& x) { return digest(x.data(), x.size()); }
#endif
template <class T>
  requires requires(const T& x) { x.storage(); } // xtensor's
double digest(const T& x) {
  return digest(x.data(), static_cast<std::int64_t>(x.size()));
}
template <class T> double digest(const std::shared_ptr<T>& x) { return digest(*x); }

/// One thing to be computed, by whoever can.
class suite_case {
 public:
  /// With what it has to do at the least, this is measured as `limit`.
  explicit suite_case(std::string name, work least = {}) : name_(std::move(name)), bytes_(least.read + least.written) {
    if (least.operations > 0)
      add_limit([least](benchmark::State& state) {
        for (auto _ : state) multiply_adds(least.operations);
      });
    else if (bytes_ > 0)
      add_limit([least](benchmark::State& state) {
        const traffic moved(least);
        for (auto _ : state) moved.run();
      });
  }

  /// `run()` computes and returns the result, for `who`.
  template <class Run> const suite_case& add(const std::string& who, Run run) const {
    benchmark::RegisterBenchmark((name_ + "/" + who).c_str(), [bytes = bytes_, run](benchmark::State& state) {
      auto result = run();
      result = run(); // into memory that has been touched, as the first result is still there
      for (auto _ : state) benchmark::DoNotOptimize(result = run());
      state.counters["digest"] = digest(result);
      state.counters["bytes"] = bytes;
    })->UseRealTime();
    return *this;
  }

 private:
  template <class Measure> void add_limit(Measure measure) const {
    benchmark::RegisterBenchmark((name_ + "/limit").c_str(), measure)->UseRealTime();
  }

  std::string name_;
  double bytes_;
};

} // namespace bench
