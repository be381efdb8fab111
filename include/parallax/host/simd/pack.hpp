// Packs, the registers of lanes in which the host evaluates kernels, with all their operations.
#pragma once

#include <parallax/host/simd/functions/vector_math.hpp>
#include <parallax/host/simd/lanes/pack_arithmetic.hpp>
#include <parallax/host/simd/lanes/pack_memory.hpp>
#include <parallax/host/simd/lanes/pack_philox.hpp>
#include <parallax/host/simd/lanes/pack_reduce.hpp>
#include <parallax/host/simd/lanes/pack_type.hpp>
