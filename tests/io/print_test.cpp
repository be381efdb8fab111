// Printed arrays against what NumPy 2.2 prints for the same values.
#include <parallax/backends/placing.hpp>
#include <parallax/io/print.hpp>

#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "support/test.hpp"

namespace print_test {

namespace {

using namespace parallax;
using namespace parallax::detail;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

// first, first + step, ... in row-major order.
template <class T, std::size_t Rank>
array<T, int{Rank}> counted(const std::array<std::int64_t, Rank>& shape, T first = 0, T step = 1) {
  auto result = array<T, int{Rank}>::uninitialised(shape);
  T* out = result.mutable_data();
  for (std::int64_t i = 0; i < result.size(); ++i) out[i] = first + static_cast<T>(i) * step;
  return result;
}

} // namespace

TEST_CASE("floats print with their shortest digits, points aligned") {
  CHECK(to_string(array<float, 1>{0, .5, 2, 4.5, 8, 12.5, 18, 24.5}) == "[ 0.   0.5  2.   4.5  8.  12.5 18.  24.5]");
  CHECK(to_string(array<float, 1>{0, 1. / 6, 1. / 3, .5}) == "[0.         0.16666667 0.33333334 0.5       ]");
  CHECK(to_string(array<double, 1>{1. / 3, 2. / 3}) == "[0.33333333 0.66666667]");
  CHECK(to_string(array<float, 2>{{1, 2}, {3, 4}}) == "[[1. 2.]\n [3. 4.]]");
  CHECK(to_string(array<float, 2>{{-1.5, 2}, {0.25, -4}, {10, 0}, {-0.125, 3}}) == "[[-1.5    2.   ]\n"
                                                                                   " [ 0.25  -4.   ]\n"
                                                                                   " [10.     0.   ]\n"
                                                                                   " [-0.125  3.   ]]");
  CHECK(to_string(array<float, 2>{{1.0040143, -0.9063372}, {-0.7481722, -1.1713669}}) ==
        "[[ 1.0040143 -0.9063372]\n [-0.7481722 -1.1713669]]");
  CHECK(to_string(array<float, 1>{1, 0}) == "[1. 0.]");
  CHECK(to_string(array<float, 1>{16777216, 85162448}) == "[16777216. 85162448.]");
  CHECK(to_string(array<double, 1>{-0.0, 1}) == "[-0.  1.]");
}

TEST_CASE("floats print in scientific form where magnitudes are large, small or far apart") {
  CHECK(to_string(array<float, 1>{1e8, 1}) == "[1.e+08 1.e+00]");
  CHECK(to_string(array<float, 1>{1e-5, .5}) == "[1.e-05 5.e-01]");
  CHECK(to_string(array<float, 1>{1000, .5}) == "[1.e+03 5.e-01]");
  CHECK(to_string(array<float, 1>{1000, 1}) == "[1000.    1.]");
  CHECK(to_string(array<float, 1>{1e-4}) == "[0.0001]");
  CHECK(to_string(array<float, 1>{7629.642, 1.25e-20}) == "[7.629642e+03 1.250000e-20]");
  // The shorter number gets further digits of its exact value, 7629.64208984375.
  CHECK(to_string(array<float, 1>{7629.642, 1.0789524e27}) == "[7.6296421e+03 1.0789524e+27]");
  CHECK(to_string(array<double, 1>{1e100, -2.5e-3}) == "[ 1.0e+100 -2.5e-003]");
}

TEST_CASE("nan and inf are right-aligned") {
  CHECK(to_string(array<float, 1>{nan_value, 1, -infinity}) == "[ nan   1. -inf]");
  CHECK(to_string(array<float, 1>{nan_value, infinity}) == "[nan inf]");
  CHECK(to_string(array<float, 1>{infinity, 1e10, -1}) == "[    inf  1.e+10 -1.e+00]");
}

TEST_CASE("integers and booleans share a width") {
  CHECK(to_string(array<std::int32_t, 2>{{1, -20}, {300, 4}}) == "[[  1 -20]\n [300   4]]");
  CHECK(to_string(array<std::uint8_t, 1>{0, 255, 7}) == "[  0 255   7]");
  CHECK(to_string(array<std::uint64_t, 1>{18446744073709551615u, 0}) == "[18446744073709551615                    0]");
  CHECK(to_string(array<std::int64_t, 1>{std::numeric_limits<std::int64_t>::min(), 0}) ==
        "[-9223372036854775808                    0]");
  CHECK(to_string(array<bool, 1>{true, false}) == "[ True False]");
  CHECK(to_string(array<bool, 2>{{true, true}, {true, true}}) == "[[ True  True]\n [ True  True]]");
}

TEST_CASE("an array of rank 0 prints as a scalar, with all its digits") {
  CHECK(to_string(array<float, 0>{3}) == "3.0");
  CHECK(to_string(array<float, 0>{0.1}) == "0.1");
  CHECK(to_string(array<double, 0>{1. / 3}) == "0.3333333333333333");
  CHECK(to_string(array<double, 0>{1e16}) == "1e+16");
  CHECK(to_string(array<double, 0>{-1.25e-7}) == "-1.25e-07");
  CHECK(to_string(array<float, 0>{123456792}) == "123456790.0");
  CHECK(to_string(array<float, 0>{1e-5}) == "1e-05");
  CHECK(to_string(array<float, 0>{-infinity}) == "-inf");
  CHECK(to_string(array<std::int32_t, 0>{-7}) == "-7");
  CHECK(to_string(array<bool, 0>{true}) == "True");
}

TEST_CASE("an array without elements prints as empty brackets") {
  CHECK(to_string(array<float, 1>{}) == "[]");
  CHECK(to_string(array<float, 2>::filled({0, 3}, 0)) == "[]");
  CHECK(to_string(array<std::int32_t, 2>::filled({2, 0}, 0)) == "[]");
}

TEST_CASE("long rows wrap at 75 columns") {
  CHECK(to_string(counted<float, 1>({30}, 0, 0.25f)) ==
        "[0.   0.25 0.5  0.75 1.   1.25 1.5  1.75 2.   2.25 2.5  2.75 3.   3.25\n"
        " 3.5  3.75 4.   4.25 4.5  4.75 5.   5.25 5.5  5.75 6.   6.25 6.5  6.75\n"
        " 7.   7.25]");
  CHECK(to_string(counted<std::int64_t, 2>({2, 25}, -25)) ==
        "[[-25 -24 -23 -22 -21 -20 -19 -18 -17 -16 -15 -14 -13 -12 -11 -10  -9  -8\n"
        "   -7  -6  -5  -4  -3  -2  -1]\n"
        " [  0   1   2   3   4   5   6   7   8   9  10  11  12  13  14  15  16  17\n"
        "   18  19  20  21  22  23  24]]");
}

TEST_CASE("blocks of higher rank are set apart by empty lines") {
  CHECK(to_string(counted<std::int32_t, 3>({2, 3, 2})) == "[[[ 0  1]\n  [ 2  3]\n  [ 4  5]]\n\n"
                                                          " [[ 6  7]\n  [ 8  9]\n  [10 11]]]");
  CHECK(to_string(counted<float, 4>({2, 1, 2, 1})) == "[[[[0.]\n   [1.]]]\n\n\n [[[2.]\n   [3.]]]]");
}

TEST_CASE("more than 1000 elements are summarised") {
  CHECK(to_string(counted<std::int32_t, 1>({1001})) == "[   0    1    2 ...  998  999 1000]");
  CHECK(to_string(counted<std::int32_t, 1>({1000})).find("...") == std::string::npos);
  CHECK(to_string(counted<float, 2>({40, 50}, 0, 0.125f)) ==
        "[[0.00000e+00 1.25000e-01 2.50000e-01 ... 5.87500e+00 6.00000e+00\n"
        "  6.12500e+00]\n"
        " [6.25000e+00 6.37500e+00 6.50000e+00 ... 1.21250e+01 1.22500e+01\n"
        "  1.23750e+01]\n"
        " [1.25000e+01 1.26250e+01 1.27500e+01 ... 1.83750e+01 1.85000e+01\n"
        "  1.86250e+01]\n"
        " ...\n"
        " [2.31250e+02 2.31375e+02 2.31500e+02 ... 2.37125e+02 2.37250e+02\n"
        "  2.37375e+02]\n"
        " [2.37500e+02 2.37625e+02 2.37750e+02 ... 2.43375e+02 2.43500e+02\n"
        "  2.43625e+02]\n"
        " [2.43750e+02 2.43875e+02 2.44000e+02 ... 2.49625e+02 2.49750e+02\n"
        "  2.49875e+02]]");
  // Short dimensions are shown whole.
  const std::string text = to_string(counted<std::int32_t, 3>({2, 300, 2}));
  CHECK(text.substr(0, 52) == "[[[   0    1]\n  [   2    3]\n  [   4    5]\n  ...\n  [ ");
  CHECK(text.substr(text.size() - 15) == "  [1198 1199]]]");
}

TEST_CASE("streams take arrays and sharded arrays") {
  const array<float, 2> a{{1, 2}, {3, 4}};
  const std::vector<int> devices{0, 1};
  std::ostringstream out;
  out << a << '\n' << shard(a, 1, devices) << '\n' << replicate(array<std::int32_t, 0>{5}, devices);
  CHECK(out.str() == "[[1. 2.]\n [3. 4.]]\n[[1. 2.]\n [3. 4.]]\n5");
}

TEST_CASE("16-bit floats print with the digits that identify them among their own") {
  CHECK(to_string(array<float16, 1>{0.1, 1. / 3, -2, 65504}) == "[ 9.998e-02  3.333e-01 -2.000e+00  6.550e+04]");
  CHECK(to_string(array<float16, 1>{0.1, 0.5, 1. / 3, 2}) == "[0.1    0.5    0.3333 2.    ]");
  CHECK(to_string(array<float16, 2>{{1, nan_value}, {infinity, -infinity}}) == "[[  1.  nan]\n [ inf -inf]]");
  CHECK(to_string(array<float16, 0>(0.1f)) == "0.1");
  CHECK(to_string(array<float16, 0>(1234.0f)) == "1234.0");
  CHECK(to_string(array<float16, 0>(6e-8f)) == "6e-08");
  CHECK(to_string(parallax::array<parallax::bfloat16, 1>{0.1, 1.5, 3, infinity, nan_value}) ==
        "[0.100098 1.5 3 inf nan]");
  CHECK(to_string(parallax::array<parallax::bfloat16, 0>(0x1p100f)) == "1.26765e+30");
}

} // namespace print_test
