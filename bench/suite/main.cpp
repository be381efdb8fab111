// Runs a family of the suite's cases. Usage: suite FAMILY [Google Benchmark's options]
#include "families.hpp"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <string_view>
#include <utility>

int main(int argc, char** argv) {
  constexpr std::pair<std::string_view, void (*)()> families[] = {
      {"elementwise", bench::add_elementwise}, {"functions", bench::add_functions}, {"rows", bench::add_rows},
      {"products", bench::add_products},       {"training", bench::add_training},   {"loops", bench::add_loops},
      {"random", bench::add_random},           {"devices", bench::add_devices}};
  for (const auto& [name, add] : families)
    if (argc >= 2 && argv[1] == name) add();
  benchmark::Initialize(&argc, argv);
  if (benchmark::RunSpecifiedBenchmarks() > 0) return 0;
  std::fputs("usage: suite FAMILY\n", stderr);
  return 2;
}
