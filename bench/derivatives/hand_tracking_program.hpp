// ht as an array program.
#pragma once

#include <parallax/parallax.hpp>

#include <vector>

namespace bench {

namespace plx = parallax;

/// The matrix of a turn around an axis by its length.
constexpr auto turn_around = [](auto axis) {
  auto angle = plx::sqrt(plx::sum(axis * axis));
  auto w = axis / angle, s = plx::sin(angle) * w;
  auto cosine = plx::cos(angle), zero = plx::zeros_like(angle);
  auto crossed = plx::stack({zero, -s[2], s[1], s[2], zero, -s[0], -s[1], s[0], zero});
  auto one = plx::equal(plx::broadcasted_iota<int, 0>({3, 3}), plx::broadcasted_iota<int, 1>({3, 3}));
  return plx::expand_dims(w, 1) * w * (1. - cosine) + plx::where(one, cosine, 0.) + plx::reshape(crossed, {3, 3});
};

/// The motions of all bones from the resting hand, transposed, (4 bones, 3), of the hand's variables and the bones'
/// motions from the bone before and from the resting hand (bones, 4, 4).
constexpr auto hand_motions = [](auto variables, auto relative, auto from_rest) {
  constexpr int fingers = 5;
  auto whole = turn_around(plx::slice_in_dim(variables, 0, 3));
  auto of_fingers = plx::reshape(plx::slice_in_dim(relative, 1, 1 + 4 * fingers), {fingers, 4, 4, 4});
  auto angles = plx::reshape(plx::slice_in_dim(variables, 6, 26), {fingers, 4});
  auto angle = [&](int k) { return plx::index_in_dim(angles, k, 1); };
  // what a joint does, of the fingers' cosines and sines
  auto joint = [&](auto bend, auto c, auto s) {
    auto zero = plx::zeros_like(bend), one = plx::ones_like(bend), bc = plx::cos(bend), bs = plx::sin(bend);
    auto rows =
        plx::stack({c, -s * bc, s * bs, zero, s, c * bc, -c * bs, zero, zero, bs, bc, zero, zero, zero, zero, one}, 1);
    return plx::reshape(rows, {fingers, 4, 4});
  };
  auto zeros = plx::zeros_like(angle(0)), ones = plx::ones_like(angle(0));
  auto wrist = relative[0];
  auto bone = [&](int k) { return plx::index_in_dim(of_fingers, k, 1); };
  auto first = plx::matmul(wrist, bone(0));
  auto second = plx::matmul(plx::matmul(first, bone(1)), joint(angle(0), plx::cos(angle(1)), plx::sin(angle(1))));
  auto third = plx::matmul(plx::matmul(second, bone(2)), joint(angle(2), ones, zeros));
  auto fourth = plx::matmul(plx::matmul(third, bone(3)), joint(angle(3), ones, zeros));
  auto fingers_at = plx::reshape(plx::stack({first, second, third, fourth}, 1), {4 * fingers, 4, 4});
  auto forearm = plx::matmul(wrist, relative[21]);
  auto at = plx::concatenate({plx::expand_dims(wrist, 0), fingers_at, plx::expand_dims(forearm, 0)});
  auto motions = plx::matmul(whole, plx::slice_in_dim(plx::matmul(at, from_rest), 0, 3, 1, 1)); // (bones, 3, 4)
  return plx::reshape(plx::transpose(motions, {0, 2, 1}), {4 * relative.shape(0), 3});
};

/// How much of a bone's motion is a vertex's, (vertices, 4 bones), of the resting vertices (4, vertices), whose last
/// row is of ones, and how much they are bound to bones (bones, vertices).
constexpr auto hand_shares = [](auto resting, auto weights) {
  auto shares = plx::expand_dims(weights, 1) * resting;
  return plx::transpose(plx::reshape(shares, {4 * weights.shape(0), weights.shape(1)}));
};

/// How far measured points are from the vertices that they belong to, (correspondences, 3).
constexpr auto hand_tracking_program = [](auto variables, auto relative, auto from_rest, auto resting, auto weights,
                                          auto vertex_of, auto measured) {
  auto vertices = plx::matmul(hand_shares(resting, weights), hand_motions(variables, relative, from_rest));
  return measured - (vertices + plx::slice_in_dim(variables, 3, 6))[vertex_of];
};

/// Its Jacobian by the variables. Vertices are linear in the motions, and points in vertices: all derivatives of
/// vertices are one product, of which rows are taken.
constexpr auto hand_tracking_jacobian = [](auto variables, auto relative, auto from_rest, auto resting, auto weights,
                                           auto vertex_of, auto) {
  auto by_motions = plx::jacfwd(hand_motions)(variables, relative, from_rest); // (4 bones, 3, variables)
  auto by_place = plx::jacfwd([](auto x) { return plx::slice_in_dim(x, 3, 6); })(variables);
  auto of_vertex = 3 * variables.shape(0);
  auto vertices =
      plx::matmul(hand_shares(resting, weights), plx::reshape(-by_motions, {4 * weights.shape(0), of_vertex})) -
      plx::reshape(by_place, {of_vertex});
  return vertices[vertex_of];
};

} // namespace bench
