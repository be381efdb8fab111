// Uses the library through its CMake target alone.
#include <parallax/parallax.hpp>

#ifdef CONSUMER_MPI
#include <parallax/distributed.hpp>
#include <parallax/distributed/mpi.hpp>
#endif

#include <cblas.h>

#include <tuple>

// More steps than the compilers allow unless the target raises their limits.
constexpr int count_to(int end) {
  int i = 0;
  while (i < end) i = i + 1;
  return i;
}
static_assert(count_to(2'000'000) == 2'000'000);

#ifdef CONSUMER_CUDA
void show_versions();
#endif

int main() {
#ifdef CONSUMER_CUDA
  show_versions();
#endif
#ifdef CONSUMER_MPI
  const auto session = parallax::distributed::initialize();
  if (parallax::distributed::process_count() != 1) return 1;
#endif
  static_assert(parallax::promote(parallax::element_type::int32, parallax::element_type::float32) ==
                parallax::element_type::float32);
  const float x[] = {3.f, 4.f};
  if (cblas_snrm2(2, x, 1) != 5.f) return 1;
  // what is compiled once where the runtime is linked: products, teams, collectives, errors
  namespace plx = parallax;
  const auto a = plx::array<float, 2>::filled({40, 40}, 0.5f);
  if (plx::jit([](auto m) { return plx::dot(m, m); })(a)(39, 39) != 10.f) return 2;
  const plx::array<float, 1> four{1, 2, 3, 4};
  const auto shares = plx::pmap<"i">([](auto v) { return v / plx::psum<"i">(v); })(four);
  if (shares(3) != 0.4f) return 3;
  try {
    std::ignore = plx::jit([](auto u, auto v) { return u + v; })(four, plx::array<float, 1>{1, 2, 3});
    return 4;
  } catch (const plx::shape_error&) {
  }
  return 0;
}
