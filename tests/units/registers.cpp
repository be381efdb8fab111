// Compiled once for each kind of registers; REGISTERS is `narrow`, `wide` or `native`.
#include "units/registers.hpp"

#include <parallax/parallax.hpp>

namespace plx = parallax;

namespace units {

// Of one type in every file.
struct softmax_of_rows {
  constexpr auto operator()(auto x) const {
    auto power = plx::exp(x - plx::max(x, 1, plx::keepdims));
    return power / plx::sum(power, 1, plx::keepdims);
  }
};
struct sum_of_columns {
  constexpr auto operator()(auto x) const { return plx::sum(x * x, 0); }
};

namespace {

constexpr registers here = registers::REGISTERS;

/// Another operation in each file, so that kernels with it are of this file alone.
constexpr auto own = [](auto x, auto y) {
  if constexpr (here == registers::narrow) return plx::maximum(x, y);
  else if constexpr (here == registers::wide) return x + y;
  else return x - y;
};
constexpr auto every_ninth = [](auto key, auto y) {
  return own(plx::slice(plx::philox::bits(key, {2000}), {1}, {1800}, {9}), y);
};
constexpr auto every_ninth_of_64_bits = [](auto key, auto y) {
  return own(plx::slice(plx::philox::bits<std::uint64_t>(key, {2000}), {1}, {1800}, {9}), y);
};
constexpr auto own_softmax = [](auto x) { return softmax_of_rows{}(own(x, 1.f)); };
constexpr auto own_columns = [](auto x) { return sum_of_columns{}(own(x, 1.f)); };

plx::array<float, 2> counted_rows() {
  plx::array<float, 2> x = plx::array<float, 2>::uninitialised({rows, length});
  for (int i = 0; i < rows * length; ++i) x.mutable_data()[i] = static_cast<float>(i % 7);
  return x;
}

} // namespace

template <> computed compute<here>() {
  computed result;
  result.lanes = plx::host::lanes;
  const plx::array<float, 2> x = counted_rows();
  result.eager_sum = plx::array(x + 2.f * x).to_vector();
  result.softmax = plx::jit(softmax_of_rows{})(x).to_vector();
  result.columns = plx::jit(sum_of_columns{})(x).to_vector();
  result.mean = plx::array(plx::mean(plx::astype<double>(x), plx::axis<1>)).to_vector();
  for (bool each : plx::array(x > 3.f).to_vector()) result.comparison.push_back(each);
  const plx::array half = plx::astype<plx::float16>(x);
  result.product_of_16_bits = plx::array(plx::astype<float>(plx::dot(half, plx::transpose(half)))).to_vector();
  const plx::array key = plx::philox::key(7);
  result.every_ninth_word = plx::jit(every_ninth)(key, std::uint32_t{1}).to_vector();
  result.every_ninth_of_64_bits = plx::jit(every_ninth_of_64_bits)(key, std::uint64_t{1}).to_vector();
  result.own_softmax = plx::jit(own_softmax)(x).to_vector();
  result.own_columns = plx::jit(own_columns)(x).to_vector();
  return result;
}

} // namespace units
