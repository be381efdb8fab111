// What the simulator reports: a mistake of the program that real devices would not have told of.
#pragma once

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>

namespace simulator {

/// A mistake that the simulator found. It is no `parallax::error`: no program is meant to handle it.
class fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The parts, one after another.
template <class... Parts> std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// Throws a `fault` of that text.
template <class... Parts> [[noreturn]] void fail(const Parts&... parts) { throw fault(text(parts...)); }

/// A type's name as C++ writes it, of what `typeid` calls it.
inline std::string readable(const char* name) {
  int failed = 0;
  const std::unique_ptr<char, void (*)(void*)> whole(abi::__cxa_demangle(name, nullptr, nullptr, &failed), std::free);
  return failed != 0 || whole == nullptr ? name : whole.get();
}

} // namespace simulator
