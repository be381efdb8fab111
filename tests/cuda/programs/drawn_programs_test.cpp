// Drawn programs on simulated CUDA devices: step by step, captured, and replayed as graphs. Each is run under another
// order of what streams and events leave open.
#include "cuda/programs/calls.hpp"
#include "support/interpreter/test_drawn.hpp"

#include <array>
#include <cstddef>
#include <utility>

namespace drawn_programs_test {

using namespace properties;

namespace {

using simulator::api;
namespace cuda = parallax::cuda;

/// A kernel of the program of the moment, which one thread interprets.
struct interpreted_kernel {
  static constexpr bool barriers = false;
  struct arguments {
    compiled::kernel_id kernel;
    kernel_arguments loop;
    compiled::operand operands[compiled::max_accesses];
    compiled::constant_bits constants[64];
  };
  template <class Block> static void run(const Block& block, const arguments& a) {
    kernel_arguments loop = a.loop;
    loop.operands = const_cast<compiled::operand*>(a.operands);
    loop.constants = a.constants;
    kernel_interpreter(block, program_of_the_moment::plan, a.kernel, loop).run();
  }
};

template <int Number> cuda::status launch_number(kernel_arguments& a, const cuda::launch_context<api>& where) {
  interpreted_kernel::arguments copied{compiled::kernel_id{Number}, a, {}, {}};
  std::copy_n(a.operands, a.operand_count, copied.operands);
  std::copy_n(a.constants, a.constant_count, copied.constants);
  return api::launch(interpreted_kernel{}, {1, 1}, where.stream, copied);
}
constexpr auto kernels = []<int... Number>(std::integer_sequence<int, Number...>) {
  return std::array{&launch_number<Number>...};
}(std::make_integer_sequence<int, program_of_the_moment::most_kernels>{});
constexpr cuda::program_launchers<api> launchers{kernels.data(), nullptr, nullptr, nullptr, {}};

} // namespace

TEST_CASE("drawn programs compute on simulated devices what they say") {
  std::uint64_t seed = 0;
  auto on_machine = [&](traced_program& traced, const std::vector<program_argument>& arguments, int calls,
                        const auto& compare) {
    simulator::machine machine({.devices = 8, .seed = ++seed});
    {
      cuda::backend_options options;
      options.graph_steps = 1;
      if (seed % 2 == 1) options.overlap_bytes = 0;
      cuda::backend<api>::restart(options);
      for (int call = 0; call < calls; ++call)
        compare(call, traced.run(arguments, [](auto&& values) {
          return cuda::program_run<api>(program_of_the_moment::plan, launchers, std::forward<decltype(values)>(values))
              .run();
        }));
      cuda::backend<api>::shut_down();
    }
    machine.finish();
  };
  drawn_test(3, on_machine).try_programs(400);
}

} // namespace drawn_programs_test
