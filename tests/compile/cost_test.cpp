// What programs cost, beside counts by hand.
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <utility>

namespace cost_test {

namespace {

namespace plx = parallax;
using plx::program_cost, plx::shaped;

constexpr auto product = [](auto a, auto b) { return plx::matmul(a, b); };
static_assert(plx::cost(product, shaped<float, 64, 32>, shaped<float, 32, 16>) ==
              program_cost{.flops = 2 * 64 * 32 * 16,
                           .bytes_read = 4 * (64 * 32 + 32 * 16),
                           .bytes_written = 4 * 64 * 16,
                           .peak_bytes = 4 * (64 * 32 + 32 * 16 + 64 * 16)});

// one loop, of which nothing between is written
constexpr auto chain = [](auto x, auto y) { return plx::exp(x * 2.f) + y; };
static_assert(plx::cost(chain, shaped<double, 100>, shaped<double, 100>) ==
              program_cost{.flops = 300, .bytes_read = 1600, .bytes_written = 800, .peak_bytes = 2400});
// a row that all rows share is read once
constexpr auto shared = [](auto x, auto y) { return x + y; };
static_assert(plx::cost(shared, shaped<float, 10, 20>, shaped<float, 20>).bytes_read == 4 * (200 + 20));
constexpr auto total = [](auto x) { return plx::sum(x * x); };
static_assert(plx::cost(total, shaped<float, 1000>) ==
              program_cost{.flops = 2000, .bytes_read = 4000, .bytes_written = 4, .peak_bytes = 4004});

// rounds count; their numbers do where they are asked for, and take no memory where there are many
constexpr auto rounds = [](auto w, auto x) {
  return plx::fori_loop(0, 10, [w](auto, auto v) { return plx::tanh(plx::dot(w, v)); }, x);
};
static_assert(plx::cost(rounds, shaped<float, 8, 8>, shaped<float, 8>).flops == 10 * (2 * 64 + 8));
constexpr auto numbered = [](auto x) {
  return plx::fori_loop(0, 10, [](auto i, auto v) { return v * plx::astype<float>(i); }, x);
};
static_assert(plx::cost(numbered, shaped<float, 8>).flops == 10 * (8 + 2));
constexpr auto often = [](auto x) {
  auto round = [](auto i, auto v) { return v + plx::astype<float>(i); };
  return plx::fori_loop(0, 1 << 28, round, plx::fori_loop(0, 1 << 28, [](auto, auto v) { return v + 1e-9f; }, x));
};
static_assert(plx::cost(often, shaped<float>).peak_bytes < 256);

// all devices together; a sum is one collective of what each of them gives
constexpr auto on_devices = plx::pmap<"i">([](auto x) { return plx::psum<"i">(x * 2.f); });
constexpr program_cost spread = plx::cost(on_devices, shaped<float, 4, 25>);
static_assert(spread.flops == 100 && spread.bytes_exchanged() == 400 && spread.collectives() == 1);
// by kind, and as often as a loop goes round
constexpr auto of_two_kinds = plx::pmap<"i">([](auto x) {
  auto round = [](auto, auto v) { return plx::ppermute<"i">(plx::sin(v), plx::rotate{1}); };
  return plx::sum(plx::all_gather<"i">(plx::fori_loop(0, 5, round, x)), plx::axis<0>);
});
constexpr program_cost mixed = plx::cost(of_two_kinds, shaped<float, 4, 25>);
static_assert(mixed.of(plx::detail::exchange_kind::permute) == plx::exchange_cost{5, 5 * 400});
static_assert(mixed.of(plx::detail::exchange_kind::all_gather) == plx::exchange_cost{1, 400});
static_assert(mixed.of(plx::detail::exchange_kind::all_reduce) == plx::exchange_cost{} && mixed.collectives() == 6);

// what a user's own function computes is not known; its arguments are read and its results written
struct outer_product {
  static void host(plx::ffi_buffer<const double, 1>, plx::ffi_buffer<const double, 1>, plx::ffi_buffer<double, 2>) {}
  static constexpr auto shape(auto x, auto y) { return plx::reshape(x, {x.shape(0), 1}) * y; }
};
static_assert(plx::cost(plx::custom_call<outer_product>, shaped<double, 10>, shaped<double, 20>) ==
              program_cost{.bytes_read = 240, .bytes_written = 1600, .peak_bytes = 1840});

// a checkpoint computes more and keeps less
constexpr auto layer = [](auto w, auto x) { return plx::sin(plx::matmul(x, w)); };
constexpr auto checkpointed = plx::checkpoint(layer);
template <auto& Layer> struct deep {
  constexpr auto operator()(auto w, auto x) const {
    auto round = [w](auto h, auto) { return std::pair{Layer(w, Layer(w, Layer(w, Layer(w, h)))), plx::none}; };
    return plx::sum(plx::scan(round, x, plx::none, plx::length<16>).first);
  }
};
constexpr deep<layer> kept{};
constexpr deep<checkpointed> again{};
constexpr program_cost of_kept = plx::cost(plx::grad(kept), shaped<float, 8, 8>, shaped<float, 64, 8>);
constexpr program_cost of_again = plx::cost(plx::grad(again), shaped<float, 8, 8>, shaped<float, 64, 8>);
static_assert(of_again.flops > of_kept.flops && of_again.peak_bytes < of_kept.peak_bytes);

// what rows' values and gradients move where a product lies between the way forward and the way back
constexpr auto matrix = shaped<float, 64, 512>;
constexpr auto square = shaped<float, 512, 512>;
constexpr auto row = shaped<float, 512>;
template <class Function, class... Arguments>
constexpr program_cost of_both_ways(Function, const Arguments&... arguments) {
  const auto both_ways = [](auto w, auto... each) {
    auto [y, pull_back] = plx::vjp(Function{}, each...);
    return std::pair{y, pull_back(plx::dot(y, w))};
  };
  program_cost all = plx::cost(both_ways, square, arguments...);
  all.bytes_read -= plx::cost(product, matrix, square).bytes_read;
  all.bytes_written -= plx::cost(product, matrix, square).bytes_written;
  return all;
}
/// Bytes for each element of the matrix; numbers for each row and column are less than half a byte together.
constexpr std::int64_t bytes_per_element(const program_cost& all) {
  return (all.bytes_read + all.bytes_written) / (64 * 512);
}
constexpr auto softmax = [](auto x) { return plx::softmax(x, 1); };
constexpr auto layernorm = [](auto x) {
  auto centred = x - plx::mean(x, 1, plx::keepdims);
  return centred * plx::rsqrt(plx::mean(plx::square(centred), 1, plx::keepdims) + 1e-5f);
};
constexpr auto scaled_layernorm = [](auto x, auto scale, auto shift) { return layernorm(x) * scale + shift; };
constexpr auto logsumexp = [](auto x) { return plx::logsumexp(x, 1, plx::keepdims) + x * 0.f; };
// x to y; then y, or x and numbers of rows, with the cotangent to x's
static_assert(bytes_per_element(of_both_ways(softmax, matrix)) == 8 + 12);
static_assert(bytes_per_element(of_both_ways(layernorm, matrix)) == 8 + 12);
// the sums for the scale and the shift read x and the cotangent, and the cotangent
static_assert(bytes_per_element(of_both_ways(scaled_layernorm, matrix, row, row)) == 8 + 12 + 8 + 4);
// exponentials are kept, as they take longer than a store and a load
static_assert(bytes_per_element(of_both_ways(logsumexp, matrix)) == 12 + 12);
// nothing is kept but x, y, the product, x's cotangent, and of each row its mean, deviation and how that moves
static_assert(of_both_ways(softmax, matrix).peak_bytes == 4 * (512 * 512 + 4 * 64 * 512));
static_assert(of_both_ways(layernorm, matrix).peak_bytes == 4 * (512 * 512 + 4 * 64 * 512 + 3 * 64));

// what two loops read is written for them but where it is cheap, and made of no more than it takes itself
template <class Shared> constexpr std::int64_t bytes_for_two(Shared) {
  const auto two_loops = [](auto x, auto y) {
    auto both = Shared{}(x, y);
    return std::pair{plx::sum(both, 0), plx::sum(plx::sin(both), 1)};
  };
  return bytes_per_element(plx::cost(two_loops, matrix, matrix));
}
static_assert(bytes_for_two([](auto x, auto) { return plx::maximum(x - 1.f, 0.f) * 2.f; }) == 4 + 4);
static_assert(bytes_for_two([](auto x, auto) { return plx::astype<double>(x) * 0.5; }) == 4 + 4);
static_assert(bytes_for_two([](auto x, auto) { return plx::exp(x); }) == 4 + 4 + 8);
static_assert(bytes_for_two([](auto x, auto y) { return x + y; }) == 8 + 4 + 8);
static_assert(bytes_for_two([](auto x, auto) { return plx::transpose(plx::reshape(x, {512, 64})) * 2.f; }) ==
              4 + 4 + 8);
// a sum of products may be rounded once in one loop and twice in another: its largest would not be found again
static_assert(bytes_for_two([](auto x, auto) { return plx::maximum(x * 2.f - 1.f, 0.f); }) == 4 + 4 + 8);
static_assert(bytes_for_two([](auto x, auto) { return 1.f - plx::square(x); }) == 4 + 4 + 8);
static_assert(bytes_for_two([](auto x, auto) { return -(x * 2.f) + 1.f; }) == 4 + 4 + 8);
template <class Read> constexpr std::int64_t bytes_for_product(Read) {
  const auto two_loops = [](auto x) {
    auto scaled = x * 2.f;
    return std::pair{plx::sum(Read{}(scaled), 0), plx::sum(plx::sin(scaled), 1)};
  };
  return bytes_per_element(plx::cost(two_loops, matrix));
}
static_assert(bytes_for_product([](auto scaled) { return plx::abs(scaled); }) == 4 + 4);
static_assert(bytes_for_product([](auto scaled) { return -scaled - 1.f; }) == 4 + 4 + 8);

// nor where a loop reads it in two ways
static_assert(plx::cost(
                  [](auto x) {
                    auto doubled = x * 2.f;
                    return std::pair{plx::sum(doubled * plx::transpose(doubled), 0), plx::sum(plx::sin(doubled), 1)};
                  },
                  square)
                  .bytes_written == 4 * (512 * 512 + 2 * 512));
// nor for each row anew
static_assert(plx::cost(
                  [](auto x, auto scale) {
                    auto doubled = scale * 2.f;
                    return std::pair{plx::sum(x * doubled, 0), doubled - plx::sum(x, 0)};
                  },
                  matrix, row)
                  .flops == 512 + 2 * 64 * 512 + 64 * 512 + 512);
// and what no loop reads is not computed: of two means and a square of differences, and of the way back
static_assert(of_both_ways(layernorm, matrix).flops - 2 * 64 * 512 * 512 < 25 * 64 * 512);

} // namespace

TEST_CASE("cost is a constant of the program") { // the assertions above are the test
  CHECK(plx::cost(total, shaped<float, 10>).flops == 20);
}

} // namespace cost_test
