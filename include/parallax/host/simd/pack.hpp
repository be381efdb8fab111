// Packs, the registers of lanes in which the host evaluates kernels, with all their operations.
#pragma once

#include <parallax/host/simd/pack_arithmetic.hpp>
#include <parallax/host/simd/pack_memory.hpp>
#include <parallax/host/simd/pack_philox.hpp>
#include <parallax/host/simd/pack_reduce.hpp>
#include <parallax/host/simd/pack_type.hpp>
#include <parallax/host/simd/vector_math.hpp>
