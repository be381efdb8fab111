// The primitives of the catalogue.
#pragma once

#include <parallax/primitives/activation.hpp>
#include <parallax/primitives/arithmetic.hpp>
#include <parallax/primitives/assembly.hpp>
#include <parallax/primitives/bitwise.hpp>
#include <parallax/primitives/collective.hpp>
#include <parallax/primitives/comparison.hpp>
#include <parallax/primitives/conversion.hpp>
#include <parallax/primitives/cumulative.hpp>
#include <parallax/primitives/dot_general.hpp>
#include <parallax/primitives/error_function.hpp>
#include <parallax/primitives/exchange.hpp>
#include <parallax/primitives/exponential.hpp>
#include <parallax/primitives/indexing.hpp>
#include <parallax/primitives/philox.hpp>
#include <parallax/primitives/power.hpp>
#include <parallax/primitives/reduction.hpp>
#include <parallax/primitives/rounding.hpp>
#include <parallax/primitives/select.hpp>
#include <parallax/primitives/shape.hpp>
#include <parallax/primitives/softmax.hpp>
#include <parallax/primitives/sort.hpp>
#include <parallax/primitives/sources.hpp>
#include <parallax/primitives/threefry.hpp>
#include <parallax/primitives/trigonometric.hpp>
#include <parallax/primitives/wide_remainder.hpp>
