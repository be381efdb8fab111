// A training step of examples/transformer_model.hpp with blocks of one's choice, with Adam under pmap.
#pragma once

#include "../../examples/transformer_model.hpp"

#include <cstdint>
#include <tuple>
#include <utility>

namespace bench {

namespace plx = parallax;
using namespace examples;

template <std::int64_t... Extents> using on_devices = plx::array<float, plx::extents<plx::dyn, Extents...>>;
/// One block, or `Count` of them along a first axis.
template <std::int64_t... Count>
using block = transformer_block<on_devices<Count..., width>, on_devices<Count..., width, width>,
                                on_devices<Count..., width, 4 * width>, on_devices<Count..., 4 * width, width>>;
template <class Blocks>
using model = transformer<on_devices<characters, width>, on_devices<length, width>, Blocks, on_devices<width>,
                          on_devices<width, characters>>;
using texts = plx::array<std::int32_t, plx::extents<plx::dyn, plx::dyn, length>>;

template <class Model> using state_of = decltype(state_on_devices(std::declval<const Model&>()));

/// The loss of a step.
template <class Model>
float step(const Model& params, const state_of<Model>& state, const texts& text, const texts& next) {
  return std::get<2>(learn_on_devices(params, state, text, next))(0);
}

} // namespace bench
