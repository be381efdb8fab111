// Packs, the registers of lanes in which the host evaluates kernels, with all their operations.
#pragma once

#include <parallax/host/pack_arithmetic.hpp>
#include <parallax/host/pack_memory.hpp>
#include <parallax/host/pack_philox.hpp>
#include <parallax/host/pack_reduce.hpp>
#include <parallax/host/pack_type.hpp>
#include <parallax/host/vector_math.hpp>
