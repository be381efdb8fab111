// A folder for files that tests save, which goes with the process, and what is said where one is not loaded.
#pragma once

#include <parallax/io/save.hpp>
#include <parallax/parallax.hpp>

#include <filesystem>
#include <string>

#include <unistd.h>

namespace saved_files {

namespace plx = parallax;

inline const std::filesystem::path folder = [] {
  auto made = std::filesystem::temp_directory_path() / ("parallax_save_" + std::to_string(::getpid()));
  std::filesystem::create_directories(made);
  return made;
}();
struct removed_at_end {
  ~removed_at_end() { std::filesystem::remove_all(folder); }
};
inline const removed_at_end removes{};

inline std::string path(const char* name) { return (folder / name).string(); }
template <class Tree> std::string refused(const std::string& name, const plx::program_hash& program = {}) {
  try {
    plx::load<Tree>(name, program);
  } catch (const plx::error& e) {
    return e.what();
  }
  return "it was loaded";
}

using small = plx::array<float, plx::extents<2, 3>>;

} // namespace saved_files
