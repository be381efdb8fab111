// ht: how far points lie from the vertices of a hand that they belong to, by how the hand is held.
#pragma once

#include "support/random_values.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

/// The point is the hand's rotation, an axis of the angle's length, its place, and of each finger four angles: those
/// that its three joints bend by, and behind the first one what that turns aside by. The bones are a tree: the wrist,
/// of each finger four, of which the first keeps still, and the forearm. The hand is made up, as the published one is a
/// file; its size is that one's. No rotation is zero here.
struct hand_tracking_problem {
  static constexpr std::size_t fingers = 5, of_finger = 4, bones = 2 + fingers * of_finger, angles = 4,
                               variables = 6 + fingers * angles, vertices = 544, correspondences = 12800;
  static constexpr std::size_t results = 3 * correspondences;
  /// Three rows of a turn, with a shift behind each.
  template <class S> using motion = std::array<S, 12>;
  std::array<motion<double>, bones> relative, from_rest; // to the bone before, and from the resting hand to the bone
  std::vector<double> resting, weights;                  // (vertices, 3), (bones, vertices)
  std::vector<std::int32_t> vertex_of;
  std::vector<double> measured, point;

  static std::size_t parent(std::size_t bone) { return bone % of_finger == 1 ? 0 : bone - 1; }

  hand_tracking_problem() : weights(bones * vertices) {
    const auto turns = random_values(3 * bones, 51, 0.3f), noise = random_values(3 * vertices, 52, 0.4f),
               drawn = random_values(2 * vertices + correspondences, 53, 0.5f);
    std::array<motion<double>, bones> rest;
    for (std::size_t b = 0; b < bones; ++b) {
      const double axis[3] = {turns[3 * b], turns[3 * b + 1], turns[3 * b + 2]};
      relative[b] = turn_around(axis);
      const bool begins = b % of_finger == 1;
      if (b > 0) relative[b][3] = begins ? static_cast<double>(b) / 8 - 1 : 0, relative[b][7] = b == bones - 1 ? -3 : 1;
      rest[b] = b == 0 ? relative[b] : product(rest[parent(b)], relative[b]);
      from_rest[b] = inverse(rest[b]);
    }
    for (std::size_t v = 0; v < vertices; ++v) { // bound to a bone, and less to the one before
      const auto bone = static_cast<std::size_t>((drawn[v] + 0.5f) * 0.9999f * static_cast<float>(bones));
      const double near[3] = {noise[3 * v], noise[3 * v + 1] + 0.5, noise[3 * v + 2]},
                   share = 0.75 + 0.4 * drawn[vertices + v];
      for (std::size_t i = 0; i < 3; ++i) resting.push_back(moved(&rest[bone][4 * i], near));
      weights[bone * vertices + v] = share;
      weights[(bone == 0 ? bones - 1 : parent(bone)) * vertices + v] = 1 - share;
    }
    for (std::size_t i = 0; i < correspondences; ++i)
      vertex_of.push_back(static_cast<std::int32_t>((drawn[2 * vertices + i] + 0.5f) * 0.9999f * vertices));
    for (float each : random_values(results, 54, 3.0f)) measured.push_back(each);
    for (float each : random_values(variables, 55, 0.7f)) point.push_back(each);
  }

  template <class S, class T> static motion<S> product(const motion<S>& a, const motion<T>& b) {
    motion<S> result;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 4; ++j) {
        S& sum = result[4 * i + j] = a[4 * i] * b[j] + a[4 * i + 1] * b[4 + j] + a[4 * i + 2] * b[8 + j];
        if (j == 3) sum += a[4 * i + 3];
      }
    return result;
  }
  static motion<double> inverse(const motion<double>& a) {
    motion<double> result{a[0], a[4], a[8], 0, a[1], a[5], a[9], 0, a[2], a[6], a[10], 0};
    for (std::size_t i = 0; i < 3; ++i)
      result[4 * i + 3] = -(result[4 * i] * a[3] + result[4 * i + 1] * a[7] + result[4 * i + 2] * a[11]);
    return result;
  }
  template <class S> static S moved(const S* row, const double* p) {
    return row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + row[3];
  }
  template <class S> static motion<S> turn_around(const S* axis) {
    using std::cos, std::sin, std::sqrt;
    const S angle = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]), c = cos(angle), s = sin(angle);
    const S w[3] = {axis[0] / angle, axis[1] / angle, axis[2] / angle};
    motion<S> result;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t j = (i + 1) % 3, k = (i + 2) % 3;
      result[4 * i + i] = w[i] * w[i] * (1 - c) + c;
      result[4 * i + j] = w[i] * w[j] * (1 - c) - w[k] * s;
      result[4 * i + k] = w[i] * w[k] * (1 - c) + w[j] * s;
      result[4 * i + 3] = 0;
    }
    return result;
  }
  /// A joint bends around x and then turns aside around z, of cosines and sines.
  template <class S> static motion<S> joint(const S& bend_c, const S& bend_s, const S& aside_c, const S& aside_s) {
    return {aside_c,
            -aside_s * bend_c,
            aside_s * bend_s,
            S(0),
            aside_s,
            aside_c * bend_c,
            -aside_c * bend_s,
            S(0),
            S(0),
            bend_s,
            bend_c,
            S(0)};
  }
  template <class S> void values(const S* x, S* result) const {
    using std::cos, std::sin;
    std::vector<motion<S>> at(bones);
    std::vector<S> skin(3 * vertices, S(0));
    for (std::size_t b = 0; b < bones; ++b) {
      for (std::size_t j = 0; j < 12; ++j) at[b][j] = relative[b][j];
      if (b > 0) at[b] = product(at[parent(b)], relative[b]);
      if (const std::size_t place = (b + 3) % of_finger; place > 0 && b > 0 && b < bones - 1) {
        const S* of = x + 6 + (b - 1) / of_finger * angles + (place == 1 ? 0 : place);
        at[b] = place == 1 ? product(at[b], joint<S>(cos(of[0]), sin(of[0]), cos(of[1]), sin(of[1])))
                           : product(at[b], joint<S>(cos(of[0]), sin(of[0]), 1, 0));
      }
      const motion<S> by_rest = product(at[b], from_rest[b]);
      for (std::size_t v = 0; v < vertices; ++v)
        if (const double weight = weights[b * vertices + v]; weight != 0)
          for (std::size_t i = 0; i < 3; ++i) skin[3 * v + i] += weight * moved(&by_rest[4 * i], &resting[3 * v]);
    }
    const motion<S> whole = turn_around(x);
    for (std::size_t n = 0; n < correspondences; ++n) {
      const S* p = &skin[3 * static_cast<std::size_t>(vertex_of[n])];
      for (std::size_t i = 0; i < 3; ++i)
        result[3 * n + i] =
            measured[3 * n + i] - (whole[4 * i] * p[0] + whole[4 * i + 1] * p[1] + whole[4 * i + 2] * p[2] + x[3 + i]);
    }
  }
  /// The derivatives of a turn by its axis' three numbers.
  static std::array<motion<double>, 3> slopes_of_turn(const double* axis) {
    const double angle = std::sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    const double c = std::cos(angle), s = std::sin(angle), w[3] = {axis[0] / angle, axis[1] / angle, axis[2] / angle};
    std::array<motion<double>, 3> result{};
    for (std::size_t a = 0; a < 3; ++a) {
      double by[3];
      for (std::size_t i = 0; i < 3; ++i) by[i] = ((i == a ? 1 : 0) - w[i] * w[a]) / angle;
      for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t j = (i + 1) % 3, k = (i + 2) % 3;
        auto squares = [&](std::size_t m) { return (by[i] * w[m] + w[i] * by[m]) * (1 - c) + w[i] * w[m] * s * w[a]; };
        result[a][4 * i + i] = squares(i) - s * w[a];
        result[a][4 * i + j] = squares(j) - by[k] * s - w[k] * c * w[a];
        result[a][4 * i + k] = squares(k) + by[j] * s + w[j] * c * w[a];
      }
    }
    return result;
  }
  /// (correspondences, 3, variables). A vertex is moved by the angles of the finger that it is bound to alone.
  void jacobian(const double* x, double* result) const {
    const motion<double> whole = turn_around(x);
    const std::array<motion<double>, 3> slopes = slopes_of_turn(x);
    std::vector<double> skin(3 * vertices), by(3 * variables * vertices); // by: (vertices, 3, variables)
    std::array<motion<double>, bones> at;
    std::array<std::array<motion<double>, angles>, bones> moves{};
    for (std::size_t b = 0; b < bones; ++b) {
      at[b] = b == 0 ? relative[b] : product(at[parent(b)], relative[b]);
      const std::size_t place = (b + 3) % of_finger, finger = b == 0 ? 0 : (b - 1) / of_finger;
      const bool bends = place > 0 && b > 0 && b < bones - 1;
      if (bends) {
        const double* of = x + 6 + finger * angles + (place == 1 ? 0 : place);
        const double c = std::cos(of[0]), s = std::sin(of[0]), ac = place == 1 ? std::cos(of[1]) : 1,
                     as = place == 1 ? std::sin(of[1]) : 0;
        const motion<double> turned = joint<double>(c, s, ac, as);
        const std::size_t before = place == 1 ? 0 : place; // angles of the joints before
        for (std::size_t k = 0; k < before; ++k) moves[b][k] = product(product(moves[b - 1][k], relative[b]), turned);
        motion<double> by_bend = joint<double>(-s, c, ac, as);
        by_bend[0] = by_bend[4] = 0;
        moves[b][before] = rotated(at[b], by_bend);
        if (place == 1) {
          motion<double> by_aside = joint<double>(c, s, -as, ac);
          by_aside[9] = by_aside[10] = 0;
          moves[b][1] = rotated(at[b], by_aside);
        }
        at[b] = product(at[b], turned);
      }
      const motion<double> by_rest = product(at[b], from_rest[b]);
      const std::size_t moving = bends ? place + 1 : 0;
      motion<double> by_angle[angles];
      for (std::size_t k = 0; k < moving; ++k) by_angle[k] = product(rotated(whole, moves[b][k]), from_rest[b]);
      for (std::size_t v = 0; v < vertices; ++v) {
        const double weight = weights[b * vertices + v], *p = &resting[3 * v];
        if (weight == 0) continue;
        for (std::size_t i = 0; i < 3; ++i) {
          skin[3 * v + i] += weight * moved(&by_rest[4 * i], p);
          double* row = &by[(3 * v + i) * variables + 6 + finger * angles];
          for (std::size_t k = 0; k < moving; ++k) row[k] -= weight * moved(&by_angle[k][4 * i], p);
        }
      }
    }
    for (std::size_t v = 0; v < vertices; ++v)
      for (std::size_t i = 0; i < 3; ++i) {
        double* row = &by[(3 * v + i) * variables];
        for (std::size_t a = 0; a < 3; ++a) row[a] = -moved(&slopes[a][4 * i], &skin[3 * v]);
        row[3 + i] = -1;
      }
    for (std::size_t n = 0; n < correspondences; ++n, result += 3 * variables) {
      const double* from = &by[3 * variables * static_cast<std::size_t>(vertex_of[n])];
      for (std::size_t j = 0; j < 3 * variables; ++j) result[j] = from[j];
    }
  }

 private:
  /// A product whose second factor has a last row of zeros.
  static motion<double> rotated(const motion<double>& turn, const motion<double>& a) {
    motion<double> result;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 4; ++j)
        result[4 * i + j] = turn[4 * i] * a[j] + turn[4 * i + 1] * a[4 + j] + turn[4 * i + 2] * a[8 + j];
    return result;
  }
};

} // namespace bench
