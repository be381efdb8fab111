// Cases that are functions of each of a million elements.
#include "case.hpp"
#include "families.hpp"

#include <cstdint>
#include <memory>
#include <string>

#ifdef PARALLAX_BENCH_EIGEN
#include <unsupported/Eigen/SpecialFunctions>
#endif

namespace bench {
namespace {

constexpr std::int64_t count = 1 << 20;

template <class T, class Function, class Peer>
void add_function(const std::string& name, Function function, [[maybe_unused]] Peer peer) {
  using of_elements = plx::array<T, 1>;
  const suite_case each(name, {.read = sizeof(T) * count, .written = sizeof(T) * count});
  const auto x = waves<of_elements>({count}, 0);
  each.add("parallax", [=] { return of_elements(plx::jit(function)(x)); });
#ifdef PARALLAX_BENCH_EIGEN
  using peers = Eigen::Array<T, Eigen::Dynamic, 1>;
  auto kept = std::make_shared<peers>(count);
  each.add("eigen", [=] {
    *kept = peer(Eigen::Map<const peers>(x.data(), count));
    return kept;
  });
#endif
}

/// Of float32 and float64.
template <class Function, class Peer> void add_both(const std::string& name, Function function, Peer peer) {
  add_function<float>(name, function, peer);
  add_function<double>(name + " f64", function, peer);
}

} // namespace

void add_functions() {
  add_both("exp", [](auto x) { return plx::exp(x); }, [](auto x) { return x.exp(); });
  add_both("tanh", [](auto x) { return plx::tanh(x); }, [](auto x) { return x.tanh(); });
  add_both(
      "log", [](auto x) { return plx::log(x + 2); },
      [](auto x) { return (x + typename decltype(x)::Scalar(2)).log(); });
  add_both("sin", [](auto x) { return plx::sin(x); }, [](auto x) { return x.sin(); });
  add_both("erf", [](auto x) { return plx::erf(x); }, [](auto x) { return x.erf(); });
  add_both("logistic", [](auto x) { return plx::logistic(x); }, [](auto x) { return x.logistic(); });
  add_function<float>(
      "tanh times exp", [](auto x) { return plx::tanh(x) * plx::exp(x); }, [](auto x) { return x.tanh() * x.exp(); });
}

} // namespace bench
