#!/usr/bin/env bash
# Guessed: nvcc evaluates a constexpr function as g++ does, however a local aggregate with a list in it was initialised.
# Real: after `parameters p{.given = true}` a list of p that grows is forgotten, and the function is no constant ("some dynamic allocations were not deallocated"); with `p.given = true` behind the declaration it is one.
# Version: nvcc 13.5.37 (13.0.88 alike).
. "$(dirname "$0")/packages.sh"
install_nvcc 13.5.37
behaves "in braces: some dynamic allocations were not deallocated; by members: a constant" <<'PYTHON'
from nvcc import says

source = r"""
#include <cstddef>
#include <memory>
struct list {
  int* first = nullptr;
  std::size_t count = 0, room = 0;
  constexpr list() = default;
  constexpr list(const list&) = delete;
  constexpr ~list() { if (room) std::allocator<int>().deallocate(first, room); }
  constexpr void push_back(int x) {
    if (count == room) {
      const std::size_t more = room ? 2 * room : 4;
      int* larger = std::allocator<int>().allocate(more);
      for (std::size_t i = 0; i < count; ++i) std::construct_at(larger + i, first[i]);
      if (room) std::allocator<int>().deallocate(first, room);
      first = larger, room = more;
    }
    std::construct_at(first + count++, x);
  }
};
struct parameters { bool given = false; list numbers; };
constexpr int last() {
#ifdef IN_BRACES
  parameters p{.given = true};
#else
  parameters p;
  p.given = true;
#endif
  p.numbers.push_back(7);
  return p.numbers.first[0];
}
static_assert(last() == 7);
"""
print(f"in braces: {says(source, '-DIN_BRACES')}; by members: {says(source)}")
PYTHON
