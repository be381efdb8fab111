#!/usr/bin/env bash
# Guessed: within a class the order of members does not matter, so a constexpr member may call a member template that is written below it, and what it returns is a constant behind the class.
# Real: for clang++ it is none before the end of the file, where it instantiates the template; with the template above the call, or in a class that is a template itself, it is one at once. g++ takes all three.
# Version: clang 20.1.2 of zig 0.15.1 (19.1.7 alike).
. "$(dirname "$0")/packages.sh"
install_python ziglang==0.15.1
behaves "below: no constant; above: a constant; below in a class template: a constant" <<'PYTHON'
import os, subprocess, sys, tempfile

SOURCE = r"""
#ifdef IN_TEMPLATE
template <class>
#endif
struct finder {
  int value;
#ifdef ABOVE
  template <int N> constexpr int times() const { return N * value; }
#endif
  constexpr int twice() const { return times<2>(); }
#ifndef ABOVE
  template <int N> constexpr int times() const { return N * value; }
#endif
};
#ifdef IN_TEMPLATE
static_assert(finder<int>{21}.twice() == 42);
#else
static_assert(finder{21}.twice() == 42);
#endif
"""

def says(*flags):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "member.cpp")
        with open(path, "w") as file:
            file.write(SOURCE)
        run = subprocess.run([sys.executable, "-m", "ziglang", "c++", "-std=c++20", "-c", path, "-o", path + ".o", *flags],
                             capture_output=True, text=True, env={**os.environ, "ZIG_GLOBAL_CACHE_DIR": folder})
    if run.returncode == 0:
        return "a constant"
    return "no constant" if "is not an integral constant expression" in run.stderr else run.stderr

print(subprocess.run([sys.executable, "-m", "ziglang", "c++", "--version"], capture_output=True, text=True).stdout.splitlines()[0])
print("below: {}; above: {}; below in a class template: {}".format(says(), says("-DABOVE"), says("-DIN_TEMPLATE")))
PYTHON
