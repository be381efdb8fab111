#!/usr/bin/env bash
# Guessed: in a lambda of the host, a member of a constant of the function around it is a template argument, as g++ and clang++ take it.
# Real: nvcc writes the member out for g++ as `{rows: 2, columns: 3}.rows`, so that g++ refuses nvcc's own text; through a static member of a class it compiles.
# Version: nvcc 13.5.37 (13.0.88 writes `2`, and compiles both).
. "$(dirname "$0")/packages.sh"
install_nvcc 13.5.37
behaves "a local constant: the host compiler refuses {rows: 2, columns: 3}; a class's: compiled" <<'PYTHON'
from nvcc import host_text

source = r"""
struct sizes { int rows, columns; };
struct of_a_class { static constexpr sizes s{.rows = 2, .columns = 3}; };
template <int Rows, int Columns> constexpr int area() { return Rows * Columns; }
inline int area_of() {
#ifdef LOCAL
  constexpr sizes s{.rows = 2, .columns = 3};
  return [] { return area<s.rows, s.columns>(); }();
#else
  return [] { return area<of_a_class::s.rows, of_a_class::s.columns>(); }();
#endif
}
"""
def compiled(*flags):
    done, text = host_text(source, *flags)
    if done: return "compiled"
    return "the host compiler refuses {rows: 2, columns: 3}" if "{rows: 2, columns: 3}.rows" in text else text

print(f"a local constant: {compiled('-DLOCAL')}; a class's: {compiled()}")
PYTHON
