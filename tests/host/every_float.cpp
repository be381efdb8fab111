// The errors of functions of packs for floats of all sizes, beside those of the C library for doubles.
// Usage: every_float [stride]: every so many-th of the 2^32 bit patterns; all of them where it is not said.
#include <parallax/host/simd/pack.hpp>
#include <parallax/math/scalar_math.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace host = parallax::host;
namespace math = parallax::math;
using host::lanes;

namespace {

std::uint64_t stride = 1;
bool is_good = true;

/// In units in the last place; see `ulp_error`, which takes numbers that hold more and is slow.
double error_of(float result, double reference) {
  constexpr double wrong = std::numeric_limits<double>::infinity();
  const float rounded = static_cast<float>(reference);
  if (rounded != rounded || result != result) return rounded != rounded && result != result ? 0 : wrong;
  if (result == 0 && rounded == 0) return std::signbit(result) == std::signbit(rounded) ? 0 : wrong;
  if (std::isinf(result) && std::isinf(rounded)) return result == rounded ? 0 : wrong;
  if (std::isinf(result) || std::isinf(rounded)) // one step too early or too late
    return std::fabs(std::isinf(result) ? rounded : result) == std::numeric_limits<float>::max() ? 1 : wrong;
  const int exponent = rounded == 0 ? -126 : std::max(std::ilogb(rounded), -126);
  return std::fabs(static_cast<double>(result) - reference) * std::ldexp(1., 23 - exponent);
}

/// Fails where an error is larger than `most`.
template <class F, class R> void check(const char* name, double most, F f, R reference) {
  double worst = 0;
  float at = 0;
  for (std::uint64_t first = 0; first < std::uint64_t{1} << 32; first += lanes * stride) {
    float x[lanes], y[lanes];
    for (std::uint64_t i = 0; i < lanes; ++i) {
      x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(first + i * stride));
      if (x[i] != x[i]) x[i] = std::numeric_limits<float>::quiet_NaN(); // and no signaling one
    }
    host::store(y, f(host::load(x)));
    for (int i = 0; i < lanes; ++i) {
      const double error = error_of(y[i], reference(static_cast<double>(x[i])));
      if (error > worst) worst = error, at = x[i];
    }
  }
  std::printf("%s: at most %.3f units, at %.9g\n", name, worst, static_cast<double>(at));
  std::fflush(stdout);
  is_good = is_good && worst <= most;
}

} // namespace

int main(int count, char* arguments[]) {
  if (count > 1) stride = std::strtoull(arguments[1], nullptr, 10);
  if (count > 2 || stride == 0) {
    std::fprintf(stderr, "usage: every_float [stride]\n");
    return 2;
  }
  check("exp", 1, [](auto x) { return math::exp(x); }, [](double x) { return std::exp(x); });
  check("expm1", 2, [](auto x) { return math::expm1(x); }, [](double x) { return std::expm1(x); });
  check("log", 1, [](auto x) { return math::log(x); }, [](double x) { return std::log(x); });
  check("log1p", 1, [](auto x) { return math::log1p(x); }, [](double x) { return std::log1p(x); });
  check("tanh", 2, [](auto x) { return math::tanh(x); }, [](double x) { return std::tanh(x); });
  check("logistic", 2, [](auto x) { return math::logistic(x); }, [](double x) { return 1 / (1 + std::exp(-x)); });
  check("erf", 2, [](auto x) { return math::erf(x); }, [](double x) { return std::erf(x); });
  check("sin", 2, [](auto x) { return math::sin(x); }, [](double x) { return std::sin(x); });
  check("cos", 2, [](auto x) { return math::cos(x); }, [](double x) { return std::cos(x); });
  check("tan", 2, [](auto x) { return math::tan(x); }, [](double x) { return std::tan(x); });
  check("x^2.5", 1, [](auto x) { return math::pow(x, decltype(x)(2.5f)); }, [](double x) { return std::pow(x, 2.5); });
  check("2^x", 1, [](auto x) { return math::pow(decltype(x)(2.f), x); }, [](double x) { return std::exp2(x); });
  return is_good ? 0 : 1;
}
