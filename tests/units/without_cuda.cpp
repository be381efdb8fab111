// Not compiled for CUDA, in one program with a file that is.
#include "support/test.hpp"
#include "units/backends.hpp"

#include <vector>

namespace {

using namespace units;
using numbers = std::vector<float>;
using Catch::Matchers::Contains;

const vector early = centred(vector{{1, 2, 6}});

constexpr auto own = [](auto x) { return x * x - x; };

const vector x{{1, 2, 6}};
const plx::array<float, 2> rows{{1, 2, 3}, {4, 5, 6}};

} // namespace

TEST_CASE("a file without CUDA knows that another one has it") {
  CHECK(plx::has_cuda_backend());
  const plx::use_backend here(plx::backend::cuda);
  CHECK(plx::default_backend() == plx::backend::cuda);
}

TEST_CASE("programs that a file with CUDA calls too run there from a file without", "[gpu]") {
  const plx::use_backend here(plx::backend::cuda);
  const vector twice = x + x, moved = centred(x);
  CHECK(lies_on_device(twice));
  CHECK(lies_on_device(moved));
  CHECK(twice.to_vector() == numbers{2, 4, 12});
  CHECK(moved.to_vector() == numbers{-2, -1, 3});
  CHECK(totals(rows).to_vector() == numbers{5, 7, 9, 5, 7, 9});
}

TEST_CASE("a file with CUDA runs programs where a file without it says", "[gpu]") {
  for (const bool on_device : {true, false}) {
    const plx::use_backend here(on_device ? plx::backend::cuda : plx::backend::host);
    const vector twice = twice_in_cuda_file(x), moved = centred_in_cuda_file(x), own_result = own_in_cuda_file(x);
    CHECK(lies_on_device(twice) == on_device);
    CHECK(lies_on_device(moved) == on_device);
    CHECK(lies_on_device(own_result) == on_device);
    CHECK(twice.to_vector() == numbers{2, 4, 12});
    CHECK(moved.to_vector() == numbers{-2, -1, 3});
    CHECK(own_result.to_vector() == numbers{2, 4, 12});
    CHECK(totals_in_cuda_file(rows).to_vector() == numbers{5, 7, 9, 5, 7, 9});
  }
}

TEST_CASE("a program of a file without CUDA cannot run there, says so, and runs on the host afterwards") {
  {
    const plx::use_backend here(plx::backend::cuda);
    CHECK_THROWS_WITH(plx::jit(own)(x), Contains("call it from a .cu file"));
    CHECK_THROWS_WITH(vector(x - x * x), Contains("compiled for the host alone"));
  }
  const plx::use_backend here(plx::backend::host);
  CHECK(plx::jit(own)(x).to_vector() == numbers{0, 2, 30});
}

TEST_CASE("where nothing is chosen, programs that were compiled for CUDA run on its devices, and others on the host",
          "[gpu]") {
  CHECK(plx::default_backend() == plx::backend::cuda);
  const vector twice = x + x, squares = plx::jit(own)(twice);
  CHECK(lies_on_device(twice));
  CHECK(!lies_on_device(squares));
  CHECK(lies_on_device(own_in_cuda_file(squares)));
  CHECK(squares.to_vector() == numbers{2, 12, 132});
}

TEST_CASE("the host's results are right in both files") {
  const plx::use_backend here(plx::backend::host);
  CHECK(vector(x + x).to_vector() == numbers{2, 4, 12});
  CHECK(centred(x).to_vector() == numbers{-2, -1, 3});
  CHECK(twice_in_cuda_file(x).to_vector() == numbers{2, 4, 12});
  CHECK(centred_in_cuda_file(x).to_vector() == numbers{-2, -1, 3});
  CHECK(own_in_cuda_file(x).to_vector() == numbers{2, 4, 12});
  CHECK(totals(rows).to_vector() == numbers{5, 7, 9, 5, 7, 9});
  CHECK(totals_in_cuda_file(rows).to_vector() == numbers{5, 7, 9, 5, 7, 9});
  CHECK(message_in_cuda_file(plx::backend::host, x).empty());
}

TEST_CASE("programs run while objects are initialised, before main") {
  CHECK(early.to_vector() == numbers{-2, -1, 3});
  CHECK(early_in_cuda_file.to_vector() == numbers{-2, -1, 3});
}

TEST_CASE("a file with CUDA runs programs on devices while its objects are initialised", "[gpu]") {
  CHECK(lies_on_device(early_in_cuda_file));
}

TEST_CASE("where there is no device, both files catch what the choice of CUDA gives rise to") {
  const std::string message = message_in_cuda_file(plx::backend::cuda, x);
  CHECK(message.empty() == (plx::default_backend() == plx::backend::cuda));
  if (message.empty()) return;
  const plx::use_backend here(plx::backend::cuda);
  CHECK_THROWS_AS(vector(x + x), plx::cuda_error);
  CHECK_THROWS_AS(centred(x), plx::cuda_error);
}
