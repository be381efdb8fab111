// Measures steps of training, and makes many of them.
#include "measured_cases.cuh"
#include "step_cases.cuh"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <future>
#include <string>
#include <vector>

namespace gpu {
namespace {

namespace plx = parallax;

/// Bytes of the device's memory that nobody has.
std::size_t free_memory() {
  std::size_t free = 0, total = 0;
  plx::cuda::check(bench::api::memory_info(free, total));
  return free;
}

/// The bytes of the parameters after a thousand steps, and how much memory the last 900 of them have taken for good.
struct outcome {
  std::vector<float> parameters;
  std::ptrdiff_t taken = 0;
};
outcome thousand_steps() {
  const plx::use_backend here(plx::backend::cuda);
  const auto [x, targets] = bench::put_on_device(bench::perceptron_examples(128));
  auto params = bench::put_on_device(bench::perceptron());
  std::size_t free = 0;
  for (int i = 0; i < 1000; ++i) {
    params = bench::step_programs::sgd(params, x, targets).first;
    if (i == 99) bench::wait(), free = free_memory();
  }
  bench::wait();
  outcome result;
  result.taken = static_cast<std::ptrdiff_t>(free) - static_cast<std::ptrdiff_t>(free_memory());
  plx::tree_for_each(
      [&](const auto& leaf) {
        const auto values = leaf.values();
        result.parameters.insert(result.parameters.end(), values.begin(), values.end());
      },
      params);
  return result;
}

} // namespace

int measure_steps(assignment& given) { return measured(bench::step_cases(), given); }

int repeat_steps(assignment& given) {
  if (given.list) return 0;
  const outcome first = thousand_steps(), second = thousand_steps();
  int failed = 0;
  const auto say = [&](const char* name, bool holds, const std::string& found) {
    failed += !holds;
    std::printf("%-44s %s%s%s\n", name, holds ? "passed" : "failed", found.empty() ? "" : ": ", found.c_str());
    given.to.write(
        given.to.line().text("check", name).text("outcome", holds ? "passed" : "failed").text("message", found));
  };
  const auto same = [&](const char* name, const outcome& again) {
    std::size_t other = 0;
    for (std::size_t i = 0; i < first.parameters.size(); ++i)
      other += std::memcmp(&first.parameters[i], &again.parameters[i], sizeof(float)) != 0;
    say(name, other == 0 && !first.parameters.empty(),
        std::to_string(other) + " of " + std::to_string(first.parameters.size()) + " parameters differ");
  };
  same("1000 steps: the same bits in two runs", second);
  bool finite = true;
  for (const float value : first.parameters) finite = finite && std::isfinite(value);
  say("1000 steps: numbers", finite, "");
  say("1000 steps: constant memory", first.taken <= 0 && second.taken <= 0,
      std::to_string(std::max(first.taken, second.taken)) + " bytes more after 1000 steps than after 100");
  // each of two threads of the host has its own steps in the one stream
  auto aside = std::async(std::launch::async, thousand_steps);
  const outcome third = thousand_steps(), fourth = aside.get();
  same("1000 steps: the same bits beside another thread", third);
  same("1000 steps: the same bits in that thread", fourth);
  return failed;
}

} // namespace gpu
