// Rotations and shifts by any distance, also by more than the axis holds, over axes that vmap maps and over devices.
#include "expected.hpp"

#include <array>
#include <tuple>

namespace permutation_test {

namespace {

using namespace conformance;

constexpr std::array<int, 9> distances{-7, -4, -3, -1, 0, 1, 2, 4, 5};

// every distance, rotated and shifted
constexpr auto moved = [](auto x) {
  return std::tuple{plx::ppermute<"i">(x, plx::rotate{-7}), plx::ppermute<"i">(x, plx::rotate{-4}),
                    plx::ppermute<"i">(x, plx::rotate{-3}), plx::ppermute<"i">(x, plx::rotate{-1}),
                    plx::ppermute<"i">(x, plx::rotate{0}),  plx::ppermute<"i">(x, plx::rotate{1}),
                    plx::ppermute<"i">(x, plx::rotate{2}),  plx::ppermute<"i">(x, plx::rotate{4}),
                    plx::ppermute<"i">(x, plx::rotate{5}),  plx::ppermute<"i">(x, plx::shift{-7}),
                    plx::ppermute<"i">(x, plx::shift{-4}),  plx::ppermute<"i">(x, plx::shift{-3}),
                    plx::ppermute<"i">(x, plx::shift{-1}),  plx::ppermute<"i">(x, plx::shift{0}),
                    plx::ppermute<"i">(x, plx::shift{1}),   plx::ppermute<"i">(x, plx::shift{2}),
                    plx::ppermute<"i">(x, plx::shift{4}),   plx::ppermute<"i">(x, plx::shift{5})};
};
// a different weight for every move, so that a cotangent that goes astray is seen
constexpr auto weighted = [](auto x) {
  return std::apply(
      [](auto first, auto... others) {
        float weight = 1.5f;
        auto total = plx::sum(first * first) * weight;
        ((weight *= 1.5f, total = total + plx::sum(others * others) * weight), ...);
        return plx::psum<"i">(total);
      },
      moved(x));
};

// where the value at `from` goes to among `size`; `size` if it is lost
std::int64_t destination(bool rotated, std::int64_t from, std::int64_t distance, std::int64_t size) {
  const std::int64_t to = from + distance;
  if (rotated) return ((to % size) + size) % size;
  return to < 0 || to >= size ? size : to;
}

template <class Results> void check_moved(const Results& results, std::int64_t size, std::int64_t width) {
  std::size_t n = 0;
  auto check = [&](const auto& result) {
    const bool rotated = n < distances.size();
    INFO((rotated ? "rotate " : "shift ") << distances[n % distances.size()] << " of " << size);
    std::vector<float> expected(static_cast<std::size_t>(size * width));
    for (std::int64_t from = 0; from < size; ++from) {
      const std::int64_t to = destination(rotated, from, distances[n % distances.size()], size);
      for (std::int64_t e = 0; to != size && e < width; ++e)
        expected[static_cast<std::size_t>(to * width + e)] = static_cast<float>(from * width + e);
    }
    check_equal(result, {size, width}, expected);
    ++n;
  };
  std::apply([&](const auto&... result) { (check(result), ...); }, results);
}

template <class Gradient> void check_gradient(const Gradient& gradient, std::int64_t size, std::int64_t width) {
  std::vector<double> expected;
  for (std::int64_t from = 0; from < size; ++from)
    for (std::int64_t e = 0; e < width; ++e) {
      double weight = 1, slope = 0;
      for (bool rotated : {true, false})
        for (int distance : distances) {
          weight *= 1.5;
          if (destination(rotated, from, distance, size) != size)
            slope += 2 * weight * static_cast<double>(from * width + e) * static_cast<double>(size); // all get the sum
        }
      expected.push_back(slope);
    }
  check_close(gradient, {size, width}, expected);
}

template <class Array> void check_mapped(const Array& x) {
  check_moved(plx::vmap<"i">(moved)(x), x.shape(0), x.shape(1));
  check_gradient(plx::vmap<"i">(plx::grad(weighted))(x), x.shape(0), x.shape(1));
}

} // namespace

TEST_CASE("rotations and shifts over a vmapped axis of static extent, by less and by more than it holds") {
  check_mapped(plx::array<float, plx::extents<3, 2>>(counted(3, 2)));
  check_mapped(plx::array<float, plx::extents<1, 2>>(counted(1, 2)));
}

TEST_CASE("rotations and shifts over a vmapped axis of dynamic extent, by less and by more than it holds") {
  for (std::int64_t size : {0, 1, 2, 3, 4, 8}) check_mapped(plx::array<float, 2>(counted(size, 2)));
  for (std::int64_t size : {1, 3, 8}) check_mapped(plx::array<float, plx::extents<plx::dyn, 2>>(counted(size, 2)));
}

TEST_CASE("rotations and shifts over devices, by less and by more than there are") {
  for (std::int64_t size : {1, 2, 3, 8}) {
    const plx::array<float, 2> x(counted(size, 2));
    check_moved(plx::pmap<"i">(moved)(x), size, 2);
    check_gradient(plx::pmap<"i">(plx::grad(weighted))(x), size, 2);
  }
}

TEST_CASE("a shift beyond the axis has nothing to do with the extents of other arguments") {
  constexpr auto beside =
      plx::vmap<"i">([](auto x, auto y) { return std::pair{plx::ppermute<"i">(x, plx::shift{5}), plx::sum(y)}; },
                     plx::in_axes<0, plx::none>);
  const auto [shifted, sums] = beside(plx::array<float, 2>(counted(3, 2)), plx::array<float, 1>(counted(7)));
  check_equal(shifted, {3, 2}, std::vector<float>(6, 0));
  check_equal(sums, {3}, std::vector<float>(3, 21));
}

} // namespace permutation_test
