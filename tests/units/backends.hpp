// Programs that a file without CUDA and one with it both call, and what the latter does for the former.
#pragma once

#include <parallax/parallax.hpp>

#include <string>

namespace units {

namespace plx = parallax;
using vector = plx::array<float, 1>;

/// Of one type in both files, since they are inline.
inline constexpr auto centred = plx::jit([](auto x) { return x - plx::mean(x); });
inline constexpr auto total = plx::pmap<"i">([](auto x) { return plx::psum<"i">(x); });
inline plx::array<float, 2> totals(const plx::array<float, 2>& rows) { return total(rows); }

inline bool lies_on_device(const auto& x) { return x.storage().on_device() != nullptr; }

/// Computed while this file's objects are initialised, before `main`.
extern const vector early_in_cuda_file;

// Of the file with CUDA.
vector twice_in_cuda_file(const vector& x);
vector centred_in_cuda_file(const vector& x);
vector own_in_cuda_file(const vector& x); ///< a program of that file alone: 3 x - x
plx::array<float, 2> totals_in_cuda_file(const plx::array<float, 2>& rows);
/// What it catches after it chose a backend, and ran programs of both files.
std::string message_in_cuda_file(plx::backend chosen, const vector& x);

} // namespace units
