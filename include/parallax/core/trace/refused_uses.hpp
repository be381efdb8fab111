// Uses of arrays that C++, NumPy and JAX allow and traced arrays refuse, with messages that say what to write instead.
#pragma once

#include <parallax/core/version.hpp>

#include <initializer_list>
#include <iosfwd>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

// Assertions stand in functions whose types are deduced, or which an exception specification asks for. So they fail at
// the user's line, which names the function, and not at the end, when the function's body is compiled.
template <class Self> constexpr bool refuse_branch() {
  static_assert(std::is_void_v<Self>,
                "a traced array has no value to branch on: choose between results with plx::where, or plx::maximum and "
                "plx::minimum for std::max and std::min; branch with plx::cond, and go round with plx::while_loop");
  return true;
}
template <class Self> constexpr bool refuse_number() {
  static_assert(std::is_void_v<Self>,
                "a traced array is no number while compiling: call plx::tanh(x) and the like instead of functions of "
                "std::, keep results in `auto`, and convert with plx::astype<float>(x)");
  return true;
}
template <class Self> constexpr bool refuse_member() {
  static_assert(std::is_void_v<Self>,
                "arrays have no member functions for operations: write plx::sum(x), plx::transpose(x), plx::dot(x, y), "
                "plx::reshape(x, {2, 3}), plx::astype<float>(x)");
  return true;
}

template <class Self> constexpr bool refuse_reading() {
  static_assert(std::is_void_v<Self>, "a traced array has no elements to read while compiling: take parts of it with "
                                      "plx::index_in_dim(x, 0) or plx::slice_in_dim, and read those of the result");
  return true;
}
template <class Self> constexpr bool refuse_assignment() {
  static_assert(std::is_void_v<Self>, "a variable that names a traced array can name other traced arrays only: for one "
                                      "of numbers write plx::full_like(x, 1); x with elements changed is "
                                      "x.at(i).set(y)");
  return true;
}
template <class Self> constexpr bool refuse_shape() {
  static_assert(std::is_void_v<Self>, "shape takes an axis, x.shape(0), and is one extent; x.rank() is their number");
  return true;
}
template <class Self> constexpr bool refuse_print() {
  static_assert(std::is_void_v<Self>,
                "a traced array has no value to print while compiling: print the result of the outermost call, or "
                "plx::expression(f, x) for the program. The outermost function must not capture: make what it captures "
                "static constexpr, or pass it as an argument");
  return true;
}

template <class Self> constexpr bool refuse_binding() {
  static_assert(std::is_void_v<Self>, "structured bindings take trees apart, and this is one array: its slices are "
                                      "x[0], x[1]; keys come one by one from plx::random::split<2>(key)");
  return true;
}

/// Takes the place of NumPy's `x.T`, the transposed array.
struct no_member_T_write_plx_transpose {}; // NOLINT(readability-identifier-naming): what compilers print

/// The base of `tracer`: all of it fails to compile where it is used.
template <class Self> struct refused_uses {
  explicit constexpr operator bool() const noexcept(refuse_branch<Self>()) { return false; }
  constexpr operator double() const noexcept(refuse_number<Self>()) { return 0; }
  template <class... Index> constexpr const Self& operator()(const Index&...) const noexcept(refuse_reading<Self>()) {
    return self();
  }
  template <class Other> constexpr Self& operator=(const Other&) noexcept(refuse_assignment<Self>()) {
    return static_cast<Self&>(*this);
  }
  constexpr int shape() const noexcept(refuse_shape<Self>()) { return 0; }
  friend constexpr std::ostream& operator<<(std::ostream& out, const Self&) noexcept(refuse_print<Self>()) {
    return out;
  }

  static constexpr no_member_T_write_plx_transpose T{}; // NOLINT(readability-identifier-naming): NumPy's name
  template <class... Args> constexpr const Self& sum(const Args&...) const noexcept(refuse_member<Self>()) {
    return self();
  }
  template <class... Args> constexpr const Self& mean(const Args&...) const noexcept(refuse_member<Self>()) {
    return self();
  }
  template <class... Args> constexpr const Self& max(const Args&...) const noexcept(refuse_member<Self>()) {
    return self();
  }
  template <class... Args> constexpr const Self& min(const Args&...) const noexcept(refuse_member<Self>()) {
    return self();
  }
  template <class... Args> constexpr const Self& dot(const Args&...) const noexcept(refuse_member<Self>()) {
    return self();
  }
  template <class... Args> constexpr const Self& matmul(const Args&...) const noexcept(refuse_member<Self>()) {
    return self();
  }
  template <class... Args> constexpr const Self& transpose(const Args&...) const noexcept(refuse_member<Self>()) {
    return self();
  }
  template <class... Args> constexpr const Self& reshape(const Args&...) const noexcept(refuse_member<Self>()) {
    return self();
  }
  template <class N> constexpr const Self& reshape(std::initializer_list<N>) const noexcept(refuse_member<Self>()) {
    return self();
  }
  template <class... N> constexpr const Self& astype(const auto&...) const noexcept(refuse_member<Self>()) {
    return self();
  }

 private:
  constexpr const Self& self() const { return static_cast<const Self&>(*this); }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
