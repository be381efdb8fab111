// Processes that do not do the same: programs compiled for other registers, or called in another order. Succeeds where
// it is told so. Usage: mismatched (registers | order | kinds | extents)
#ifdef PARALLAX_DEVICE_API
#include "on_devices.hpp"
#endif

#include <parallax/distributed.hpp>
#include <parallax/distributed/mpi.hpp>

#include <cstdio>
#include <string>
#include <string_view>

namespace plx = parallax;

namespace {

// Of one kind and size: what is exchanged does not tell them apart.
constexpr auto sum = plx::pmap<"i">([](auto v) { return plx::psum<"i">(v); });
constexpr auto sum_of_squares = plx::pmap<"i">([](auto v) { return plx::psum<"i">(v * v); });
constexpr auto all = plx::pmap<"i">([](auto v) { return plx::all_gather<"i">(v); });

int run(std::string_view way) {
  const auto session = plx::distributed::initialize({.then = plx::at_deadline::throws});
  const int me = plx::distributed::process_index();
  const plx::array<float, 2> x = plx::zeros({plx::distributed::local_device_count(), 3});
  std::string text = "nothing was thrown";
  try {
    static_cast<void>(sum(x));
    if (way == "extents") { // each alone has been agreed on, but not the two together
      const plx::array<float, 2> one_row = plx::zeros({1, 3});
      static_cast<void>(sum(one_row));
      static_cast<void>(sum(me == 0 ? one_row : x));
    } else if (way != "registers") {
      static_cast<void>(sum_of_squares(x));
      static_cast<void>(all(x));
      if (me == 0) static_cast<void>(sum(x));
      else if (way == "order") static_cast<void>(sum_of_squares(x));
      else static_cast<void>(all(x));
    }
  } catch (const plx::process_error& e) {
    text = e.what();
  }
  std::printf("process %d: %s\n", me, text.c_str());
  const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  const bool told = way == "registers" ? has("what programs run on: process 0 has the host's registers ")
                                       : has("met something else of process ") &&
                                             has("all processes must call the same programs in the same order");
  return told ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  const std::string_view way = argc > 1 ? argv[1] : "";
#ifdef PARALLAX_DEVICE_API
  return process_tests::on_devices([&] { return run(way); });
#else
  return run(way);
#endif
}
