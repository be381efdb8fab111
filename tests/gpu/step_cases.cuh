// Steps of training: a perceptron's, as a program that is called and its results given to the next call, and a
// transformer block forward and back.
#pragma once

#include "cuda/programs/training_models.hpp"
#include "support/program_case.cuh"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace bench {

namespace models = training_models;

struct step_programs {
  static constexpr auto sgd = plx::jit(models::fixed_rate_step);
  static constexpr auto adam = plx::jit(models::adam_step);
  static constexpr auto tiny = plx::jit([](auto x) { return 2.f * x + 1.f; });

  static constexpr models::block_sizes sizes{.batch = 8, .sequence = 512, .width = 1024, .heads = 16};
  static constexpr auto block_tf32 = plx::jit(models::block_step<sizes, plx::precision::tf32>);
};

/// The element at i of the array with this seed, from -1 to 1: gpu_peers.py makes the same.
inline float mixed(std::int64_t i, std::uint32_t seed) {
  std::uint32_t bits = (static_cast<std::uint32_t>(i) ^ seed) * 2654435761U;
  bits = (bits ^ bits >> 15) * 2246822519U;
  return static_cast<float>(bits >> 8) * 0x1p-23f - 1.f;
}
template <class Array> Array mixed_array(const typename Array::shape_type& shape, float scale, std::uint32_t seed) {
  Array result = Array::uninitialised(shape);
  float* to = result.mutable_data();
  for (std::int64_t i = 0; i < result.size(); ++i) to[i] = scale * mixed(i, seed);
  return result;
}

// ---- A perceptron of three layers ---------------------------------------------------------------

inline auto perceptron_layer(std::int64_t inputs, std::int64_t outputs, std::uint32_t seed) {
  const float scale = 1.f / std::sqrt(static_cast<float>(inputs));
  return models::layer{mixed_array<plx::array<float, 2>>({inputs, outputs}, scale, seed),
                       mixed_array<plx::array<float, 1>>({outputs}, scale, seed + 1)};
}
inline constexpr std::int64_t perceptron_inputs = 784, perceptron_width = 256, perceptron_outputs = 10;
inline auto perceptron() {
  return std::tuple{perceptron_layer(perceptron_inputs, perceptron_width, 1),
                    perceptron_layer(perceptron_width, perceptron_width, 3),
                    perceptron_layer(perceptron_width, perceptron_outputs, 5)};
}
inline auto no_moments() {
  return plx::tree_map([](auto leaf) { return decltype(leaf)::filled(leaf.shape(), 0.f); }, perceptron());
}
inline auto adam_state() {
  return std::tuple{plx::optim::adam_state{plx::array<std::int32_t, 0>(0), no_moments(), no_moments()}, std::tuple<>{}};
}
/// Examples, and which of the outputs is right, as one-hot rows.
inline auto perceptron_examples(std::int64_t batch) {
  auto targets = plx::array<float, 2>::filled({batch, perceptron_outputs}, 0);
  for (std::int64_t i = 0; i < batch; ++i)
    targets.mutable_data()[i * perceptron_outputs + i * 7 % perceptron_outputs] = 1;
  return std::pair{mixed_array<plx::array<float, 2>>({batch, perceptron_inputs}, 1, 7), std::move(targets)};
}

/// Arguments that lie on the device, as those of a loop of training do.
template <class Tree> Tree put_on_device(const Tree& tree) {
  return plx::tree_map(
      [](const auto& x) {
        using array = std::remove_cvref_t<decltype(x)>;
        const auto bytes = static_cast<std::size_t>(x.size()) * sizeof(x.data()[0]);
        return array::adopt(plx::cuda::upload<api>(device(), reinterpret_cast<const std::byte*>(x.data()), bytes),
                            x.shape());
      },
      tree);
}

/// Parameters that a step takes on with each call.
inline std::function<void()> sgd_steps(std::int64_t batch) {
  const auto [x, targets] = put_on_device(perceptron_examples(batch));
  const auto params = std::make_shared<decltype(perceptron())>(put_on_device(perceptron()));
  return [=] { *params = step_programs::sgd(*params, x, targets).first; };
}
inline std::function<void()> adam_steps(std::int64_t batch) {
  const auto [x, targets] = put_on_device(perceptron_examples(batch));
  const auto state = std::make_shared<std::pair<decltype(perceptron()), decltype(adam_state())>>(
      put_on_device(perceptron()), put_on_device(adam_state()));
  return [=] {
    auto [params, next, loss] = step_programs::adam(state->first, state->second, x, targets);
    *state = {std::move(params), std::move(next)};
  };
}

inline void add_steps(std::vector<gpu_case>& cases, const std::string& optimiser, std::int64_t batch,
                      std::function<void()> (*steps)(std::int64_t)) {
  for (const auto what : {gpu_case::measure::host_time, gpu_case::measure::device_time}) {
    gpu_case& added = cases.emplace_back();
    const bool of_host = what == gpu_case::measure::host_time;
    added.name =
        "perceptron's step, " + optimiser + ", batch " + std::to_string(batch) + (of_host ? ", host" : ", device");
    added.what = what;
    if (of_host) {
      added.least_seconds = [] { return 8e-6; };
      added.limited_by = "8 us";
      added.aims = {{"8 us", 1}};
    }
    added.aims.push_back({"PyTorch's CUDA graph", 1});
    added.aims.push_back({"JAX", 1});
    added.prepare = [=] {
      prepared_case prepared;
      prepared.contenders = {{"parallax", steps(batch)}};
      prepared.check = [] {
        const auto [x, targets] = put_on_device(perceptron_examples(64));
        check_against_host(step_programs::sgd, 1e-4, put_on_device(perceptron()), x, targets);
        check_against_host(step_programs::adam, 1e-3, put_on_device(perceptron()), put_on_device(adam_state()), x,
                           targets);
      };
      return prepared;
    };
  }
}

// ---- A transformer block ------------------------------------------------------------------------

template <std::int64_t... E> auto block_array(float scale, std::uint32_t seed) {
  return put_on_device(mixed_array<plx::array<float, plx::extents<E...>>>({E...}, scale, seed));
}
inline auto transformer_block() {
  constexpr int width = step_programs::sizes.width, hidden = 4 * width;
  const float small = 1.f / 32, smaller = 1.f / 64;
  return models::transformer_block{block_array<width>(1, 1),
                                   block_array<width>(1, 2),
                                   block_array<width, width>(small, 3),
                                   block_array<width, width>(small, 4),
                                   block_array<width, width>(small, 5),
                                   block_array<width, width>(small, 6),
                                   block_array<width>(1, 7),
                                   block_array<width>(1, 8),
                                   block_array<width, hidden>(small, 9),
                                   block_array<hidden>(small, 10),
                                   block_array<hidden, width>(smaller, 11),
                                   block_array<width>(small, 12)};
}

/// The mean size of an array's elements.
template <class Array> double mean_size(const Array& x) {
  double sum = 0;
  for (const auto value : x.values()) sum += std::abs(static_cast<double>(value));
  return sum / static_cast<double>(x.size());
}

/// The loss and all gradients. Its digest is of the gradient by the input, which all the rest goes into.
inline gpu_case block_case() {
  gpu_case added;
  constexpr models::block_sizes s = step_programs::sizes;
  const double rows = double(s.batch) * s.sequence, width = s.width;
  // forward: 4 + 8 products of width x width for each row, and two of sequence x width for its heads; twice that back
  added.name = "transformer block, forward and back, TF32";
  added.what = gpu_case::measure::arithmetic;
  added.work = 3 * 2 * rows * width * (12 * width + 2 * s.sequence);
  added.least_seconds = [work = added.work] {
    const double peak = peak_flops(arithmetic::tensor_f32);
    return peak > 0 ? work / peak : 0;
  };
  added.limited_by = "peak at the highest clock";
  added.aims = {{"torch.compile", 1}, {"JAX", 1}};
  added.prepare = [] {
    const auto block = transformer_block();
    // nvcc 13.2 and later refuse members of the outer function's constant as template arguments here
    const auto x =
        block_array<step_programs::sizes.batch, step_programs::sizes.sequence, step_programs::sizes.width>(1, 13);
    prepared_case prepared;
    prepared.contenders = {{"parallax", kept_result([=] { return step_programs::block_tf32(block, x); })}};
    prepared.check = [] {}; // too large for the host: others' digests are what it is compared with
    prepared.digest = [=] { return mean_size(std::get<1>(step_programs::block_tf32(block, x).second)); };
    return prepared;
  };
  return added;
}

/// What the host needs for a program of one small kernel, against the launch of a kernel alone.
inline gpu_case dispatch_case() {
  gpu_case added;
  added.name = "dispatch of a tiny program";
  added.what = gpu_case::measure::host_time;
  added.least_seconds = launch_seconds;
  added.limited_by = "the launch of a kernel";
  added.prepare = [] { return one_program(step_programs::tiny, 1e-6, random_array<float, 1>({32}, 1)); };
  return added;
}

inline std::vector<gpu_case> step_cases() {
  std::vector<gpu_case> cases;
  for (std::int64_t batch : {128, 1, 4096}) add_steps(cases, "SGD", batch, sgd_steps);
  for (std::int64_t batch : {128, 4096}) add_steps(cases, "Adam", batch, adam_steps);
  cases.push_back(block_case());
  cases.push_back(dispatch_case());
  return cases;
}

} // namespace bench
