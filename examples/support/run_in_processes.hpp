// What the main functions of the examples do that run in one process as well as in several.
#pragma once

#include "support/run_example.hpp"

#include <parallax/distributed.hpp>

#include <iostream>
#include <streambuf>

namespace examples {

/// Calls `body` as `run_example` does, as one of the processes that mpirun starts where it did. Process 0 alone prints.
template <class Body> int run_in_processes(std::string_view name, int argc, char** argv, const Body& body) {
  struct silence : std::streambuf {
    int_type overflow(int_type c) override { return traits_type::not_eof(c); }
  };
  return run_example(name, argc, argv, [&](std::span<const char* const> arguments) {
    const auto session = parallax::distributed::initialize();
    if (parallax::distributed::process_index() == 0) return body(arguments);
    silence nothing;
    struct restore {
      std::streambuf* to;
      ~restore() { std::cout.rdbuf(to); }
    } at_end{std::cout.rdbuf(&nothing)};
    body(arguments);
  });
}

} // namespace examples
