// gmres: systems of any matrix, with derivatives, beside elimination and by differences.
#include "linear_systems.hpp"

namespace gmres_test {

namespace {

using namespace linear_systems;

constexpr plx::gmres_options exact{{.tol = 1e-13}, 3};
constexpr auto by_gmres = [](auto a, auto b) { return plx::gmres(a, b, exact); };

} // namespace

TEST_CASE("gmres solves systems of any matrix") { check_solution<by_gmres>(general); }
TEST_CASE("gmres: gradients solve transposed systems") { check_gradients<by_gmres>(general); }
#if !defined(__CUDACC__) // whose evaluator forgets lists of it: docs/design/errors-and-evaluators.md
TEST_CASE("gmres: tangents solve systems") { check_tangents<by_gmres>(general); }
#endif
#if !defined(__CUDACC__) && !defined(PARALLAX_DEVICE_API) // for which it takes too much memory to compile
TEST_CASE("gmres of several right-hand sides") { check_batches<by_gmres>(general); }
#endif

} // namespace gmres_test
