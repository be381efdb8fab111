// A deep network trained in four ways: on one device, and on a mesh that divides the examples (data parallel), each
// layer (tensor parallel), or the layers (pipeline parallel). The function of one device says what is exchanged; the
// gradient is taken inside it. Where mpirun starts it, the mesh goes over several processes: `mpirun -n 2
// parallel_training`.
#include "support/claim.hpp"
#include "support/run_in_processes.hpp"

#include <parallax/distributed.hpp>
#include <parallax/parallax.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <span>
#include <string>
#include <utility>

namespace plx = parallax;
using plx::in_specs;
using plx::none;
using plx::out_specs;
using plx::spec;

namespace {

constexpr int layers = 8, width = 16, hidden = 32, examples_in_all = 64;
constexpr int parts = 8; // of the examples, which follow one another through the pipeline
constexpr float rate = 0.2f;

/// The weights of some layers: (layers, width, hidden) and (layers, hidden, width). Where they are cut in different
/// ways, they are of different types.
template <class In, class Out> struct weights {
  In in;
  Out out;
};

// Some layers, one after another; `join` adds up what devices have of a layer's result.
constexpr auto network = [](auto x, auto all, const auto& join) {
  auto layer = [&](auto h, auto own) {
    const auto next = h + 0.5f * plx::tanh(join(plx::matmul(plx::tanh(plx::matmul(h, own.in)), own.out)));
    return std::pair{next, plx::none};
  };
  return plx::scan(layer, x, all).first;
};
constexpr auto alone = [](auto x) { return x; };
constexpr auto squares = [](auto y, auto target) { return plx::mean((y - target) * (y - target)); };

// A step of steepest descent. `loss(weights, x, target)` is the same on all devices.
template <class Loss> struct training_step {
  constexpr auto operator()(auto all, auto x, auto target) const {
    const auto [loss, slope] = plx::value_and_grad(Loss{})(all, x, target);
    const auto next = plx::tree_map([](auto w, auto by_w) { return w - rate * by_w; }, all, slope);
    return std::pair{next, loss};
  }
};

struct one_device {
  constexpr auto operator()(auto all, auto x, auto target) const { return squares(network(x, all, alone), target); }
};

// Each device has all weights and some examples.
struct data_parallel {
  constexpr auto operator()(auto all, auto x, auto target) const {
    return plx::pmean<"data">(squares(network(x, all, alone), target));
  }
};

// Each device has some hidden units of every layer: columns of the first matrix, rows of the second one.
struct tensor_parallel {
  constexpr auto operator()(auto all, auto x, auto target) const {
    return squares(network(x, all, [](auto y) { return plx::psum<"model">(y); }), target);
  }
};

// Each device has some layers. In each round it takes what the device before it made of a part of the examples, and the
// first one takes the next part; the last one has made something of the first part when all others have had it.
struct pipeline_parallel {
  constexpr auto operator()(auto all, auto x, auto target) const {
    const auto stage = plx::axis_index<"stage">();
    const auto stages = plx::axis_size<"stage">();
    auto round = [&](auto arrived, auto next) {
      const auto made = network(plx::where(stage == 0, next, arrived), all, alone);
      return std::pair{plx::ppermute<"stage">(made, plx::shift{1}), made};
    };
    const auto made = plx::scan(round, plx::zeros_like(x[0]), x).second;
    const auto own = squares(plx::slice_in_dim(made, -parts, none), target);
    return plx::psum<"stage">(plx::where(stage == stages - 1, own, 0.f));
  }
};

constexpr auto by_examples = plx::shard_map(training_step<data_parallel>{}, plx::mesh<"data">,
                                            in_specs<spec<>, spec<"data">, spec<"data">>, out_specs<spec<>>);
constexpr auto cut_layers = plx::tree<spec<none, none, "model">, spec<none, "model">>;
constexpr auto by_units = plx::shard_map(training_step<tensor_parallel>{}, plx::mesh<"model">,
                                         in_specs<cut_layers, spec<>, spec<>>, out_specs<cut_layers, spec<>>);
constexpr auto by_layers = plx::shard_map(training_step<pipeline_parallel>{}, plx::mesh<"stage">,
                                          in_specs<spec<"stage">, spec<>, spec<>>, out_specs<spec<"stage">, spec<>>);

using array_2 = plx::array<float, 2>;
using array_3 = plx::array<float, 3>;

/// Numbers between -scale and scale.
template <class Array> Array numbers(const typename Array::shape_type& shape, float scale, float phase) {
  auto result = Array::uninitialised(shape);
  for (std::int64_t i = 0; i < result.size(); ++i)
    result.mutable_data()[i] = scale * std::sin(static_cast<float>(i * i % 1009) * 0.37f + phase);
  return result;
}

array_3 whole(const array_3& x) { return x; }
template <auto Shape, class Mesh, auto Cut> array_3 whole(const plx::global_array<float, Shape, Mesh, Cut>& x) {
  return plx::distributed::gather(x);
}

/// Trains for some steps; returns the weights of the first matrices.
template <class Step, class X, class Target>
array_3 train(const std::string& how, const Step& step, const weights<array_3, array_3>& first, const X& x,
              const Target& target) {
  constexpr int steps = 40;
  auto [all, loss] = step(first, x, target);
  const float at_first = loss();
  for (int k = 1; k < steps; ++k) {
    auto [next, now] = step(all, x, target);
    all = next;
    loss = now;
  }
  std::cout << how << ": loss " << at_first << ", after " << steps << " steps " << loss() << '\n';
  examples::claim(loss() < 0.5f * at_first, how + " learns");
  return whole(all.in);
}

void run() {
  const weights<array_3, array_3> first{numbers<array_3>({layers, width, hidden}, 0.5f, 0.f),
                                        numbers<array_3>({layers, hidden, width}, 0.5f, 1.f)};
  const auto x = numbers<array_2>({examples_in_all, width}, 1.f, 2.f);
  const array_2 target = plx::sin(3.f * x);

  const array_3 expected = train("one device", plx::jit(training_step<one_device>{}), first, x, target);
  auto compare = [&](const std::string& how, const array_3& trained) {
    const float difference = plx::array(plx::max(plx::abs(trained - expected)))();
    std::cout << "  furthest from one device's weights " << difference << '\n';
    examples::claim(difference < 1e-4f, how + " learns the same");
  };
  compare("data parallel", train("data parallel", by_examples, first, x, target));
  compare("tensor parallel", train("tensor parallel", by_units, first, x, target));

  // the examples part by part, and as many parts of zeros as the pipeline has more stages
  constexpr std::int64_t rows = examples_in_all / parts;
  array_3 in_parts = array_3::uninitialised({parts + plx::distributed::device_count() - 1, rows, width});
  std::fill_n(in_parts.mutable_data(), in_parts.size(), 0.f);
  std::copy_n(x.data(), x.size(), in_parts.mutable_data());
  const array_3 targets = plx::reshape(target, {parts, rows, width});
  compare("pipeline parallel", train("pipeline parallel", by_layers, first, in_parts, targets));
}

} // namespace

int main(int argc, char** argv) {
  return examples::run_in_processes("parallel_training", argc, argv, [](std::span<const char* const>) { run(); });
}
