// Uses the library through its CMake target alone.
#include <parallax/parallax.hpp>

#include <cblas.h>

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
  static_assert(parallax::promote(parallax::element_type::int32, parallax::element_type::float32) ==
                parallax::element_type::float32);
  const float x[] = {3.f, 4.f};
  return cblas_snrm2(2, x, 1) == 5.f ? 0 : 1;
}
