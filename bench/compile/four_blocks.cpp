// A training step of a transformer with four blocks, written out one after another.
#include "transformer_step.hpp"

#include <array>

using network = bench::model<std::array<bench::block<>, 4>>;

float run(const network& params, const bench::state_of<network>& state, const bench::texts& text,
          const bench::texts& next) {
  return bench::step(params, state, text, next);
}
