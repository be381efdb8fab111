// An array of other elements.
// error: conversion
// line: plx::array<double, 2> y = a;
#include <parallax/parallax.hpp>

namespace plx = parallax;

int main() {
  plx::array<float, 2> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::array<double, 2> y = a;
#else
  plx::array<double, 2> y = plx::astype<double>(a);
#endif
}
