// bicgstab: systems of any matrix, with derivatives, beside elimination and by differences.
#include "linear_systems.hpp"

namespace bicgstab_test {

namespace {

using namespace linear_systems;

constexpr plx::solver_options exact{.tol = 1e-13};
constexpr auto by_bicgstab = [](auto a, auto b) { return plx::bicgstab(a, b, exact); };

} // namespace

TEST_CASE("bicgstab solves systems of any matrix") { check_solution<by_bicgstab>(general); }
TEST_CASE("bicgstab: gradients solve transposed systems") { check_gradients<by_bicgstab>(general); }
TEST_CASE("bicgstab: tangents solve systems") { check_tangents<by_bicgstab>(general); }
TEST_CASE("bicgstab of several right-hand sides") { check_batches<by_bicgstab>(general); }

} // namespace bicgstab_test
