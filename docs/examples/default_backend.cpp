// default_backend, backend
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() { std::cout << (plx::default_backend() == plx::backend::host ? "host" : "CUDA") << '\n'; }
// host
