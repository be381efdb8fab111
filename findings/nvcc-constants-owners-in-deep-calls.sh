#!/usr/bin/env bash
# Guessed: a recursive constexpr function whose calls each own memory is a constant for nvcc whichever way it is written, within the limits of depth and cost that were given.
# Real: 1000 calls deep it is one as a single expression; with the inner call's value in a variable first, memory is forgotten ("some dynamic allocations were not deallocated"), and 300 deep it is one again. g++ takes both.
# Version: nvcc 13.5.37 (13.0.88 alike).
. "$(dirname "$0")/packages.sh"
install_python nvidia-cuda-nvcc==13.5.37
export folder
behaves "one expression, 1000: a constant; a variable, 300: a constant; a variable, 1000: some dynamic allocations were not deallocated" <<'PYTHON'
import glob, os, subprocess

source = r"""
#include <cstddef>
#include <memory>
struct list {
  int* first;
  std::size_t room;
  constexpr explicit list(std::size_t n) : first(std::allocator<int>().allocate(n)), room(n) {
    for (std::size_t i = 0; i < n; ++i) std::construct_at(first + i, 1);
  }
  constexpr list(const list&) = delete;
  constexpr ~list() { std::allocator<int>().deallocate(first, room); }
};
constexpr int leaf(std::size_t n) {
  list a(n);
  return a.first[0];
}
constexpr int sum(int depth) {
  list a(4);
#ifdef WITH_VARIABLE
  if (depth == 0) return 0;
  const int first = leaf(4);
  return first + sum(depth - 1);
#else
  return depth == 0 ? 0 : leaf(4) + sum(depth - 1);
#endif
}
static_assert(sum(DEPTH) == DEPTH);
"""
folder = os.environ["folder"]
nvcc = glob.glob(folder + "/python/lib/python*/site-packages/nvidia/cu13/bin/nvcc")[0]
path = folder + "/constant.cu"
open(path, "w").write(source)
limits = ["-Xcudafe", "--max_depth_constexpr_call=100000", "-Xcudafe", "--max_cost_constexpr_call=2000000000"]
def says(*flags):
    run = subprocess.run([nvcc, "-std=c++20", *limits, "-ptx", "-o", folder + "/constant.ptx", path, *flags], capture_output=True, text=True)
    text = run.stdout + run.stderr
    lost = "some dynamic allocations" in text
    return "a constant" if run.returncode == 0 else "some dynamic allocations were not deallocated" if lost else text
print(subprocess.run([nvcc, "--version"], capture_output=True, text=True).stdout.strip().splitlines()[-1])
print(f"one expression, 1000: {says('-DDEPTH=1000')}; a variable, 300: {says('-DDEPTH=300', '-DWITH_VARIABLE')}; "
      f"a variable, 1000: {says('-DDEPTH=1000', '-DWITH_VARIABLE')}")
PYTHON
