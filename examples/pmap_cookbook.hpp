// The cells of JAX's pmap cookbook notebook, in its order and under its numbers. The program prints each as it stands
// here, then its results; the tests compare these with JAX's.
#pragma once

#include <parallax/distributed.hpp>
#include <parallax/parallax.hpp>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace cookbook {

namespace plx = parallax;

/// This file, which the program quotes.
inline constexpr std::string_view source = std::source_location::current().file_name();

// Where mpirun starts several processes, each passes its own rows to a pmap, and gets these of the result. Where a
// process is alone, its own rows are all rows.
constexpr auto rows_between =
    plx::jit([](auto x, auto from, auto to) { return plx::slice_in_dim(x, from.values[0], to.values[0]); });
auto own_rows(const auto& whole) {
  const plx::array all = whole;
  const int process = plx::distributed::process_index(), processes = plx::distributed::process_count();
  const std::int64_t rows = all.shape(0);
  return rows_between(all, plx::count(rows * process / processes), plx::count(rows * (process + 1) / processes));
}
constexpr auto joined = plx::jit([](auto x, auto y) { return plx::concatenate({x, y}); });
auto all_rows(const auto& own) {
  const auto parts = plx::distributed::gather(plx::array(own));
  auto all = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) all = joined(all, parts[i]);
  return all;
}

// [7] pmap runs a function on all devices at once, each with its own element of the argument.
inline auto squares() {
  return plx::pmap([](auto x) { return plx::pow(x, 2); })(own_rows(plx::arange(7)));
}

// [9] Like vmap, but over devices: vmap turns the function into one of whole batches, pmap leaves it as it is.
inline auto additions() {
  plx::array x{1.f, 2.f, 3.f};
  plx::array y{2.f, 4.f, 6.f};
  return std::pair{plx::vmap(plx::add)(x, y), plx::pmap(plx::add)(own_rows(x), own_rows(y))};
}

// [11] The programs: vmap makes one product of all, pmap keeps the function in one piece. They are constants.
inline auto programs() {
  constexpr auto f = [](auto x, auto y) { return plx::tanh(plx::dot(x, y)); };
  auto x = plx::shaped<float, 2, 3>;
  auto y = plx::shaped<float, 3, 4>;
  auto xs = plx::shaped<float, 8, 2, 3>;
  auto ys = plx::shaped<float, 8, 3, 4>;
  return std::tuple{plx::expression(f, x, y), plx::expression(plx::vmap(f), xs, ys),
                    plx::expression(plx::pmap(f), xs, ys)};
}

// [12] There must be a device for each element.
inline std::string one_element_too_many() {
  try {
    plx::pmap([](auto x) { return plx::pow(x, 2); })(plx::arange(plx::device_count() + 1));
    return "";
  } catch (const plx::shape_error& error) {
    return error.what();
  }
}

// [13] The result stays on its devices, and is one array to whoever uses it.
inline auto squares_and_halves() {
  auto y = plx::pmap([](auto x) { return plx::pow(x, 2); })(own_rows(plx::arange(8)));
  plx::array z = y / 2;
  return std::pair{y, z};
}

// [14] To plot it, the host fetches it.
inline std::string plot(const plx::array<std::int32_t, 1>& y) {
  std::string text;
  for (std::int32_t value : y.values()) {
    if (!text.empty()) text += '\n';
    text.append(static_cast<std::size_t>(value), ' ') += '*';
  }
  return text;
}

// [18] So does an operation outside of pmap.
inline plx::array<float, 1> halves(const plx::sharded<std::int32_t, 1>& y) { return y / 2; }

// [19] And a function.
inline plx::array<float, 1> sines(const plx::sharded<std::int32_t, 1>& y) { return plx::sin(y); }

// [21] A large random matrix on each device, from a key each.
constexpr auto random_matrices = plx::jit([](auto keys, auto size) {
  return plx::pmap([size](auto key) { return plx::random::normal(key, size.values); })(keys);
});
inline auto make_matrices(std::int64_t rows, std::int64_t columns) {
  plx::array keys = own_rows(plx::random::split(plx::random::key(0), 8));
  return random_matrices(keys, plx::extent_list<2>{{rows, columns}});
}

// [22] Eight products of matrices, each where its matrix lies.
constexpr auto products = plx::pmap([](auto x) { return plx::dot(x, plx::transpose(x)); });

// [23] Of each product one number leaves its device.
constexpr auto means = plx::pmap([](auto x) { return plx::mean(x); });

// [27] Devices communicate through collectives along the named axis.
inline auto normalized() {
  auto normalize = [](auto x) { return x / plx::psum<"i">(x); };
  return plx::pmap<"i">(normalize)(own_rows(plx::arange<float>(4)));
}

// [29] The same, mapped where it is defined.
constexpr auto normalize = plx::pmap<"i">([](auto x) { return x / plx::psum<"i">(x); });

// [31] Nested maps over rows and columns: a collective names the axes it combines.
constexpr auto normalize_nested = plx::pmap<"rows">(plx::pmap<"cols">([](auto x) {
  auto by_rows = x / plx::psum<"rows">(x);
  auto by_columns = x / plx::psum<"cols">(x);
  auto by_both = x / plx::psum<"rows", "cols">(x);
  return std::tuple{by_rows, by_columns, by_both};
}));
inline plx::array<float, 2> four_by_two() { return own_rows(plx::reshape(plx::arange<float>(8), {4, 2})); }

// [33] Rule 30, a cellular automaton: each device owns a part of the board and swaps its edges with its neighbours.
constexpr auto step = plx::pmap<"i">([](auto board) {
  auto send_right = [](auto x) { return plx::ppermute<"i">(x, plx::rotate{1}); };
  auto send_left = [](auto x) { return plx::ppermute<"i">(x, plx::rotate{-1}); };
  auto left = send_right(plx::slice_in_dim(board, -1, plx::none));
  auto right = send_left(plx::slice_in_dim(board, 0, 1));
  auto enlarged = plx::concatenate({left, board, right});
  auto before = plx::slice_in_dim(enlarged, 0, -2);
  auto here = plx::slice_in_dim(enlarged, 1, -1);
  auto after = plx::slice_in_dim(enlarged, 2, plx::none);
  return before ^ (here | after);
});
inline std::vector<std::string> rule_30(std::int64_t devices, int steps) {
  plx::array start = own_rows(plx::reshape(plx::arange(40) == 20, {devices, 40 / devices}));
  auto board = plx::pmap([](auto x) { return x; })(start);
  std::vector<std::string> lines;
  for (int i = 0; i <= steps; ++i) {
    if (i > 0) board = step(board);
    plx::array cells = all_rows(board);
    std::string& line = lines.emplace_back();
    for (bool alive : cells.values()) line += alive ? '*' : ' ';
  }
  return lines;
}

// [36] A gradient inside of a pmap, through another pmap that closes over x and y.
constexpr auto f = plx::pmap([](auto x) {
  auto y = plx::sin(x);
  auto g = plx::pmap([=](auto z) { return plx::cos(z) * plx::tan(plx::sum(y)) * plx::sum(plx::tanh(x)); });
  return plx::grad([=](auto w) { return plx::sum(g(w)); })(x);
});

// [37] The gradient of that in turn. Its backward pass runs on all devices, too.
constexpr auto gradient_of_f = plx::grad([](auto x) { return plx::sum(f(x)); });

} // namespace cookbook
