// Forward kinematics and dynamics of an arm with seven joints, without a runtime: where its hand is, its inertia, which
// is the Jacobian of a gradient, and the forces that its motion and its weight ask for.
#include <parallax/compiled_function.hpp>

#include <array>
#include <cstddef>
#include <tuple>

namespace plx = parallax;

constexpr int joints = 7;
constexpr double lengths[joints] = {0.34, 0.2, 0.2, 0.2, 0.2, 0.126, 0.1};
constexpr double masses[joints] = {3.4, 3.5, 4.0, 2.7, 1.7, 1.8, 0.3};

/// The ends of the links, (joints, 3). A link turns around its z axis, and lies along it; the next one's z axis is this
/// one's y axis.
constexpr auto positions = [](auto angles) {
  const auto zero = 0 * angles[0], one = zero + 1;
  std::array x{one, zero, zero}, y{zero, one, zero}, z{zero, zero, one}, end{zero, zero, zero};
  auto at = [&](auto&& link) {
    const auto c = plx::cos(angles[link]), s = plx::sin(angles[link]);
    for (int i = 0; i < 3; ++i) {
      const auto across = c * x[i] + s * y[i], up = c * y[i] - s * x[i];
      end[i] = end[i] + lengths[link] * z[i];
      x[i] = across, y[i] = -z[i], z[i] = up;
    }
    return plx::stack({end[0], end[1], end[2]});
  };
  // braces: in this order
  return plx::stack({at(0), at(1), at(2), at(3), at(4), at(5), at(6)});
};
constexpr auto hand = [](auto angles) { return positions(angles)[joints - 1]; };

constexpr auto kinetic = [](auto angles, auto speeds) {
  const auto velocities = plx::jvp(positions, std::tuple{angles}, std::tuple{speeds}).second;
  auto sum = 0 * speeds[0];
  for (int i = 0; i < joints; ++i) sum = sum + 0.5 * masses[i] * plx::sum(plx::square(velocities[i]));
  return sum;
};
constexpr auto potential = [](auto angles) {
  const auto ends = positions(angles);
  auto sum = 0 * angles[0];
  for (int i = 0; i < joints; ++i) sum = sum + 9.81 * masses[i] * ends[i][2];
  return sum;
};
constexpr auto dynamics = [](auto angles, auto speeds) {
  const auto momentum = plx::grad(kinetic, plx::argnums<1>);
  const auto inertia = plx::jacfwd([&](auto v) { return momentum(angles, v); })(speeds);
  const auto change =
      plx::jvp([&](auto q) { return momentum(q, speeds); }, std::tuple{angles}, std::tuple{speeds}).second;
  return std::tuple{hand(angles), inertia, change - plx::grad(kinetic)(angles, speeds) + plx::grad(potential)(angles)};
};
constexpr plx::compiled_function<dynamics, plx::shaped<double, joints>, plx::shaped<double, joints>> move;

void run(const double (&angles)[7], const double (&speeds)[7], double (&at)[3], double (&inertia)[49],
         double (&forces)[7], std::array<std::byte, move.workspace_bytes>& workspace) {
  move(angles, speeds, at, inertia, forces, workspace);
}
