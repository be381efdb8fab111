// The primitives of the catalogue.
#pragma once

#include <parallax/primitives/arrays/assembly.hpp>
#include <parallax/primitives/arrays/collective.hpp>
#include <parallax/primitives/arrays/cumulative.hpp>
#include <parallax/primitives/arrays/dot_general.hpp>
#include <parallax/primitives/arrays/exchange.hpp>
#include <parallax/primitives/arrays/indexing.hpp>
#include <parallax/primitives/arrays/reduction.hpp>
#include <parallax/primitives/arrays/shape.hpp>
#include <parallax/primitives/arrays/softmax.hpp>
#include <parallax/primitives/arrays/sort.hpp>
#include <parallax/primitives/building/sources.hpp>
#include <parallax/primitives/math/activation.hpp>
#include <parallax/primitives/math/arithmetic.hpp>
#include <parallax/primitives/math/bitwise.hpp>
#include <parallax/primitives/math/comparison.hpp>
#include <parallax/primitives/math/conversion.hpp>
#include <parallax/primitives/math/error_function.hpp>
#include <parallax/primitives/math/exponential.hpp>
#include <parallax/primitives/math/philox.hpp>
#include <parallax/primitives/math/power.hpp>
#include <parallax/primitives/math/rounding.hpp>
#include <parallax/primitives/math/select.hpp>
#include <parallax/primitives/math/threefry.hpp>
#include <parallax/primitives/math/trigonometric.hpp>
#include <parallax/primitives/math/wide_remainder.hpp>
