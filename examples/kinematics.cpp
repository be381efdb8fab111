// A controller's inner loop: where the hand of an arm with nine joints is, and how it moves with each of them, a
// thousand times a second. The functions are compiled without a runtime; the loop prints how long they take.
//
//   kinematics [cycles [cycles a second]]    5000 and 1000 by default; 0 a second: without waiting
#include <parallax/compiled_function.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

namespace plx = parallax;

constexpr int joints = 9;

/// A joint turns around its z axis; the next one's axis is turned by `twist` around x, `along` further on.
struct link {
  double cos_twist, sin_twist, across, along;
};
constexpr std::array<link, std::size_t{joints}> arm{{{1, 0, 0, 0.34},
                                                     {0, -1, 0, 0},
                                                     {0, 1, 0, 0.4},
                                                     {0, 1, 0, 0},
                                                     {0, -1, 0, 0.4},
                                                     {0, -1, 0.05, 0},
                                                     {0, 1, 0, 0.3},
                                                     {0, 1, 0.03, 0.1},
                                                     {0, -1, 0, 0.126}}};

/// Three numbers of any kind: those of a program while it is compiled, or doubles.
template <class T> struct vector3 {
  T x, y, z;
};

/// Where the hand is, of the joints' cosines and sines.
template <class T, class Cosine, class Sine>
constexpr vector3<T> hand(const T& zero, const T& one, const Cosine& cosine, const Sine& sine) {
  // the axes of the frame at hand, and its origin
  vector3<T> x{one, zero, zero}, y{zero, one, zero}, z{zero, zero, one}, origin{zero, zero, zero};
  for (int i = 0; i < joints; ++i) {
    const link& l = arm[static_cast<std::size_t>(i)];
    const T c = cosine(i), s = sine(i);
    auto turn = [&](T& a, T& b, T& d) {
      const T across = a * c + b * s, up = b * c - a * s;
      a = across;
      b = l.sin_twist == 0 ? up : d * l.sin_twist; // a twist is 0, or a quarter
      d = l.sin_twist == 0 ? d : up * -l.sin_twist;
    };
    turn(x.x, y.x, z.x), turn(x.y, y.y, z.y), turn(x.z, y.z, z.z);
    auto move = [&](T& o, const T& a, const T& d) {
      if (l.across != 0) o = o + a * l.across;
      if (l.along != 0) o = o + d * l.along;
    };
    move(origin.x, x.x, z.x), move(origin.y, x.y, z.y), move(origin.z, x.z, z.z);
  }
  return origin;
}

/// The hand's position, of the joints' angles.
constexpr auto position = [](auto angles) {
  auto cosines = plx::cos(angles), sines = plx::sin(angles);
  auto zero = plx::zeros_like(plx::index_in_dim(angles, 0));
  const auto at = hand(
      zero, plx::ones_like(zero), [&](int i) { return plx::index_in_dim(cosines, i); },
      [&](int i) { return plx::index_in_dim(sines, i); });
  return plx::stack({at.x, at.y, at.z});
};
/// A row of its Jacobian: the gradient along `direction`.
constexpr auto along = [](auto angles, auto direction) { return plx::sum(position(angles) * direction); };
/// Both: three numbers, and 3 x 9 derivatives.
constexpr auto position_and_jacobian = [](auto angles) {
  auto directions = plx::astype<double>(
      plx::equal(plx::broadcasted_iota<std::int32_t, 0>({3, 3}), plx::broadcasted_iota<std::int32_t, 1>({3, 3})));
  return std::pair{position(angles), plx::vmap(plx::grad(along), plx::in_axes<plx::none, 0>)(angles, directions)};
};

constexpr plx::compiled_function<position_and_jacobian, plx::shaped<double, joints>> kinematics;

using angles_type = std::array<double, std::size_t{joints}>;

vector3<double> position_of(const angles_type& angles) {
  return hand(
      0., 1., [&](int i) { return std::cos(angles[static_cast<std::size_t>(i)]); },
      [&](int i) { return std::sin(angles[static_cast<std::size_t>(i)]); });
}

/// The largest difference between the compiled functions and doubles with differences in place of derivatives.
double error_at(const angles_type& angles) {
  std::array<double, 3> at{};
  std::array<double, std::size_t{3 * joints}> jacobian{};
  kinematics(angles, at, jacobian);
  const vector3<double> expected = position_of(angles);
  double error = std::max({std::abs(at[0] - expected.x), std::abs(at[1] - expected.y), std::abs(at[2] - expected.z)});
  for (std::size_t j = 0; j < angles.size(); ++j) {
    constexpr double step = 1e-6;
    angles_type more = angles, less = angles;
    more[j] += step, less[j] -= step;
    const vector3<double> a = position_of(more), b = position_of(less);
    const double slopes[] = {(a.x - b.x) / (2 * step), (a.y - b.y) / (2 * step), (a.z - b.z) / (2 * step)};
    for (std::size_t i = 0; i < 3; ++i) error = std::max(error, std::abs(jacobian[i * joints + j] - slopes[i]));
  }
  return error;
}

int number_argument(int count, char** texts, int which, int otherwise) {
  if (which >= count) return otherwise;
  char* end = nullptr;
  const long number = std::strtol(texts[which], &end, 10);
  if (*end != '\0' || number < 0 || number > 100'000'000) {
    std::fprintf(stderr, "usage: kinematics [cycles [cycles a second]]\n");
    std::exit(2);
  }
  return static_cast<int>(number);
}

} // namespace

int main(int count, char** texts) {
  using clock = std::chrono::steady_clock;
  const int cycles = std::max(1, number_argument(count, texts, 1, 5000)), rate = number_argument(count, texts, 2, 1000);

  angles_type angles{};
  std::array<double, 3> at{};
  std::array<double, std::size_t{3 * joints}> jacobian{};
  std::vector<double> microseconds;
  microseconds.reserve(static_cast<std::size_t>(cycles));
  double largest_error = 0;
  auto next = clock::now();
  for (int cycle = 0; cycle < cycles; ++cycle) {
    for (std::size_t j = 0; j < angles.size(); ++j)
      angles[j] = std::sin(0.001 * static_cast<double>(cycle) * static_cast<double>(j + 1));
    const auto begin = clock::now();
    kinematics(angles, at, jacobian);
    const auto end = clock::now();
    microseconds.push_back(std::chrono::duration<double, std::micro>(end - begin).count());
    if (cycle % 500 == 0) largest_error = std::max(largest_error, error_at(angles));
    if (rate > 0) std::this_thread::sleep_until(next += std::chrono::nanoseconds(1'000'000'000 / rate));
  }

  std::ranges::sort(microseconds);
  auto percentile = [&](double share) {
    return microseconds[static_cast<std::size_t>(share * static_cast<double>(cycles - 1))];
  };
  std::printf("position and Jacobian of %d joints, %d times: median %.3f us, 99 %% within %.3f, 99.9 %% within %.3f, "
              "at most %.3f\n",
              joints, cycles, percentile(0.5), percentile(0.99), percentile(0.999), microseconds.back());
  std::printf("largest difference from doubles by hand: %.1e\n", largest_error);
  return largest_error < 1e-8 ? 0 : 1;
}
