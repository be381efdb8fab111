#!/usr/bin/env bash
# Guessed: a recursive constexpr function whose calls each own memory is a constant for nvcc whichever way it is written, within the limits of depth and cost that were given.
# Real: 1000 calls deep it is one as a single expression; with the inner call's value in a variable first, memory is forgotten ("some dynamic allocations were not deallocated"), and 300 deep it is one again. g++ takes both.
# Version: nvcc 13.5.37 (13.0.88 alike).
. "$(dirname "$0")/packages.sh"
install_nvcc 13.5.37
behaves "one expression, 1000: a constant; a variable, 300: a constant; a variable, 1000: some dynamic allocations were not deallocated" <<'PYTHON'
from nvcc import says

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
limits = ["-Xcudafe", "--max_depth_constexpr_call=100000", "-Xcudafe", "--max_cost_constexpr_call=2000000000"]
said = [says(source, *limits, f"-DDEPTH={depth}", *flags)
        for depth, flags in [(1000, []), (300, ["-DWITH_VARIABLE"]), (1000, ["-DWITH_VARIABLE"])]]
print("one expression, 1000: {}; a variable, 300: {}; a variable, 1000: {}".format(*said))
PYTHON
