// What is not one library call: rows that are normalised, an elementwise chain, a training step, a tiny program.
#pragma once

#include "gpu_limits.cuh"

#include <parallax/math/scalar_math.hpp>

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace bench {

// ---- The programs -------------------------------------------------------------------------------

struct row_programs {
  static constexpr auto softmax = plx::jit([](auto x) { return plx::softmax(x); });
  static constexpr auto layernorm = plx::jit([](auto x, auto scale, auto shift) {
    auto centred = x - plx::mean(x, 1, plx::keepdims);
    return centred * plx::rsqrt(plx::mean(plx::square(centred), 1, plx::keepdims) + 1e-5f) * scale + shift;
  });
  static constexpr auto chain =
      plx::jit([](auto x, auto y) { return plx::tanh(2.f * x + y) * plx::exp(-y) - x / (1.f + plx::square(y)); });
  static constexpr auto tiny = plx::jit([](auto x) { return 2.f * x + 1.f; });

  static constexpr auto loss = [](auto params, auto x, auto y) {
    auto [w1, b1, w2, b2, w3] = params;
    auto hidden = plx::relu(plx::dot(x, w1) + b1);
    hidden = plx::relu(plx::dot(hidden, w2) + b2);
    return plx::mean(plx::square(plx::dot(hidden, w3) - y));
  };
  static constexpr auto step = plx::jit([](auto params, auto x, auto y) {
    auto [value, gradients] = plx::value_and_grad(loss)(params, x, y);
    return std::pair{plx::tree_map([](auto p, auto g) { return p - 0.01f * g; }, params, gradients), value};
  });
};

/// The chain as a kernel written by hand, 16 bytes at a time: 12 bytes for each element.
struct chain_kernel {
  struct arguments {
    const float* x;
    const float* y;
    float* z;
    std::int64_t vectors;
  };
  static constexpr bool barriers = false;
  static constexpr int max_threads = 256;

  template <class Block> static PARALLAX_HD void run(const Block& block, const arguments& a) {
    using vector = plx::cuda::vector_of<float, 4>;
    const std::int64_t step = block.blocks() * block.threads();
    for (std::int64_t i = block.block() * block.threads() + block.thread(); i < a.vectors; i += step) {
      const vector x = block.load(reinterpret_cast<const vector*>(a.x) + i);
      const vector y = block.load(reinterpret_cast<const vector*>(a.y) + i);
      vector z;
      for (int k = 0; k < 4; ++k) {
        const float p = x.values[k], q = y.values[k];
        z.values[k] = plx::math::tanh(2.f * p + q) * plx::math::exp(-q) - p / (1.f + q * q);
      }
      block.store(reinterpret_cast<vector*>(a.z) + i, z);
    }
  }
};

// ---- The cases ----------------------------------------------------------------------------------

/// An array with a copy of the elements on the host, from where the host backend takes them.
template <class T, auto Shape> plx::array<T, Shape> on_host(const plx::array<T, Shape>& x) {
  return {x.shape(), x.values()};
}

/// Throws unless a program gives on the device what it gives on the host.
template <class Program, class... Arguments>
void check_against_host(const Program& program, double tolerance, const Arguments&... arguments) {
  const auto compare = [&](const auto& ours, const auto& theirs) {
    const auto here = on_device(ours), there = on_device(on_host(theirs));
    require_close(data_of(here), data_of(there), there.size(), tolerance, "the host backend");
  };
  const auto found = program(arguments...);
  const auto expected = [&] {
    const plx::use_backend host(plx::backend::host);
    return program(plx::tree_map([](const auto& x) { return on_host(x); }, arguments)...);
  }();
  plx::tree_map(
      [&](const auto& ours, const auto& theirs) {
        compare(ours, theirs);
        return 0;
      },
      found, expected);
}

/// A program against the device's own copy of as many bytes.
template <class Program, class... Arguments>
prepared_case one_program(const Program& program, double tolerance, const Arguments&... arguments) {
  prepared_case prepared;
  prepared.contenders = {{"parallax", kept_result([=] { return program(arguments...); })}};
  prepared.check = [=] { check_against_host(program, tolerance, arguments...); };
  return prepared;
}

inline gpu_case traffic_case(const std::string& name, double bytes, std::function<prepared_case()> prepare) {
  return {name, gpu_case::measure::traffic, bytes, bytes / copy_bandwidth(), "copy bandwidth", prepare};
}

inline std::string rows_text(std::int64_t rows, std::int64_t columns) {
  return ", " + std::to_string(rows) + " x " + std::to_string(columns);
}

inline void add_rows(std::vector<gpu_case>& cases, std::int64_t rows, std::int64_t columns) {
  const double bytes = 8. * static_cast<double>(rows) * static_cast<double>(columns); // read once, written once
  cases.push_back(traffic_case("softmax" + rows_text(rows, columns), bytes, [=] {
    return one_program(row_programs::softmax, 1e-5, random_array<float, 2>({rows, columns}, 1));
  }));
  cases.push_back(traffic_case("layernorm" + rows_text(rows, columns), bytes, [=] {
    return one_program(row_programs::layernorm, 1e-5, random_array<float, 2>({rows, columns}, 1),
                       random_array<float, 1>({columns}, 2), random_array<float, 1>({columns}, 3));
  }));
}

inline gpu_case chain_case(std::int64_t count) {
  return traffic_case(
      "chain of elementwise operations, " + std::to_string(count), 12. * static_cast<double>(count), [=] {
        const auto x = random_array<float, 1>({count}, 1), y = random_array<float, 1>({count}, 2),
                   z = uninitialised<float, 1>({count});
        prepared_case prepared = one_program(row_programs::chain, 1e-5, x, y);
        const auto blocks = static_cast<unsigned>(device().properties.multiprocessors * 16);
        prepared.contenders.push_back({"kernel by hand", [=] {
                                         plx::cuda::check(api::launch(chain_kernel{}, {blocks, 256, 0}, stream(),
                                                                      {data_of(x), data_of(y), data_of(z), count / 4}));
                                       }});
        prepared.check = [=, check = prepared.check, by_hand = prepared.contenders[1]] {
          check();
          by_hand.enqueue();
          const auto ours = row_programs::chain(x, y);
          require_close(data_of(ours), data_of(z), count, 1e-5, by_hand.name);
        };
        return prepared;
      });
}

/// Parameters, examples and targets.
inline auto training_arguments(std::int64_t batch, std::int64_t width) {
  auto matrix = [&](unsigned seed) { return random_array<float, 2>({width, width}, seed); };
  auto bias = [&](unsigned seed) { return random_array<float, 1>({width}, seed); };
  return std::tuple{std::tuple{matrix(1), bias(2), matrix(3), bias(4), matrix(5)},
                    random_array<float, 2>({batch, width}, 6), random_array<float, 2>({batch, width}, 7)};
}

/// A step of stochastic gradient descent of a perceptron with two hidden layers of `width`.
inline gpu_case training_case(std::int64_t batch, std::int64_t width) {
  gpu_case added;
  added.name = "training step, batch " + std::to_string(batch) + ", width " + std::to_string(width);
  added.what = gpu_case::measure::arithmetic;
  // forward, and two products for each backward, of which the first layer needs one
  added.work = 2. * static_cast<double>(batch * width) * static_cast<double>(width) * (3 + 2 + 2 + 1);
  if (const double peak = peak_flops(arithmetic::f32); peak > 0) {
    added.least_seconds = added.work / peak;
    added.limited_by = "peak at the highest clock";
  }
  added.prepare = [=] {
    // checked at a smaller size: the host would take long
    const auto few = training_arguments(64, 128);
    prepared_case prepared = std::apply([](const auto&... x) { return one_program(row_programs::step, 1e-4, x...); },
                                        training_arguments(batch, width));
    prepared.check = [=] {
      std::apply([](const auto&... x) { check_against_host(row_programs::step, 1e-4, x...); }, few);
    };
    return prepared;
  };
  return added;
}

/// What the host needs for a program of one small kernel, against the launch of a kernel alone.
inline gpu_case dispatch_case() {
  gpu_case added;
  added.name = "dispatch of a tiny program";
  added.what = gpu_case::measure::host_time;
  added.least_seconds = launch_seconds();
  added.limited_by = "the launch of a kernel";
  added.prepare = [] { return one_program(row_programs::tiny, 1e-6, random_array<float, 1>({32}, 1)); };
  return added;
}

/// All cases. Each result is checked against the host's before it is timed.
inline std::vector<gpu_case> row_cases() {
  std::vector<gpu_case> cases;
  for (std::int64_t columns : {64, 1024, 8192, 32768, 262144})
    add_rows(cases, (std::int64_t{1} << 26) / columns, columns);
  cases.push_back(chain_case(1 << 26));
  cases.push_back(training_case(128, 256));
  cases.push_back(training_case(2048, 1024));
  cases.push_back(dispatch_case());
  return cases;
}

} // namespace bench
