#!/usr/bin/env bash
# Guessed: a base that knows its derived class may ask it in the requires-clause of a member template, which is checked at the call, as g++ and clang++ do.
# Real: nvcc says `incomplete type "derived" is not allowed`, though nobody asks before the class is complete; if a concept asks, it compiles.
# Version: nvcc 13.0.88 (13.5.37 compiles both).
. "$(dirname "$0")/packages.sh"
install_nvcc 13.0.88
behaves 'asked directly: incomplete type "derived" is not allowed; by a concept: compiled' <<'PYTHON'
from nvcc import says

source = r"""
template <class Derived, class X> concept taken_by = Derived::template takes<X>;
#ifdef DIRECTLY
#define ASKED (Derived::template takes<X>)
#else
#define ASKED taken_by<Derived, X>
#endif
template <class Derived> struct base {
  template <class X> requires ASKED constexpr int operator()(X) const { return 1; }
};
struct derived : base<derived> {
  template <class X> static constexpr bool takes = sizeof(X) > 1;
};
constexpr int called = derived{}(3);
"""
def compiled(*flags):
    said = says(source, *flags)
    if said == "a constant": return "compiled"
    text = 'incomplete type "derived" is not allowed'
    return text if text in said else said

print(f"asked directly: {compiled('-DDIRECTLY')}; by a concept: {compiled()}")
PYTHON
