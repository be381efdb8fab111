// Trees in files: what was saved is loaded, and what is not complete or no file is never written over another.
#include <parallax/io/save.hpp>
#include <parallax/parallax.hpp>

#include "io/saved_files.hpp"
#include "support/test.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <tuple>
#include <utility>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace save_test {

namespace {

namespace plx = parallax;
using namespace saved_files;

template <class T> struct layer {
  T weights, bias;
};

std::string not_saved(const std::string& name) {
  try {
    plx::save(name, 1.f);
  } catch (const plx::error& e) {
    return e.what();
  }
  return "it was saved";
}

using tree = std::tuple<small, std::pair<plx::array<double, 1>, std::int32_t>, plx::array<plx::bfloat16, 1>,
                        plx::array<bool, 1>, plx::array<plx::float16, 0>, plx::array<std::uint8_t, 2>>;

tree example() {
  return {small{{1, 2, 3}, {4, 5, 6.5f}},
          {plx::array<double, 1>{1e300, -0.}, 7},
          plx::array<plx::bfloat16, 1>{plx::bfloat16(1.5f)},
          plx::array<bool, 1>{true, false, true},
          plx::array<plx::float16, 0>(plx::float16(0.25f)),
          plx::array<std::uint8_t, 2>::uninitialised({0, 4})};
}

constexpr auto step = [](auto x) { return x * 2 + 1; };
constexpr auto other_step = [](auto x) { return x * 2 - 1; };

} // namespace

TEST_CASE("a tree comes back as it was") {
  const std::string name = path("tree.npz");
  plx::save(name, example());
  const tree back = plx::load<tree>(name);
  CHECK(std::get<0>(back)(1, 2) == 6.5f);
  CHECK(std::get<1>(back).first(0) == 1e300);
  CHECK(std::signbit(std::get<1>(back).first(1)));
  CHECK(std::get<1>(back).second == 7);
  CHECK(static_cast<float>(std::get<2>(back)(0)) == 1.5f);
  CHECK(std::get<3>(back)(2));
  CHECK(static_cast<float>(std::get<4>(back)()) == 0.25f);
  CHECK(std::get<5>(back).shape(1) == 4);
  const layer<plx::array<float, 1>> parameters{{1, 2}, {3}};
  plx::save(name, parameters);
  CHECK(plx::load<layer<plx::array<float, 1>>>(name).bias(0) == 3);
}

TEST_CASE("others read the archive") {
  const std::string name = path("others.npz");
  plx::save(name, example());
  const std::string check = "python3 -c \"import zipfile; z = zipfile.ZipFile('" + name +
                            "'); assert z.testzip() is None; assert len(z.namelist()) == 8; "
                            "assert z.read('leaf_0.npy').startswith(b'\\x93NUMPY\\x01\\x00'); "
                            "assert len(z.read('leaf_0.npy')) == 128 + 24\"";
  CHECK(std::system(check.c_str()) == 0);
}

TEST_CASE("a file that names no program, as NumPy writes it, is loaded where none is asked for") {
  const std::string name = path("of_others.npz");
  // numpy.savez(name, leaf_0=numpy.float32([1, 2])): sizes stand in 64 bits, and in front of the data as well
  const std::string write = "python3 -c \"import struct, zipfile; z = zipfile.ZipFile('" + name +
                            "', 'w'); f = z.open('leaf_0.npy', 'w', force_zip64=True); "
                            "head = str({'descr': '<f4', 'fortran_order': False, 'shape': (2,)}).encode().ljust(117) + "
                            "b'\\n'; f.write(b'\\x93NUMPY\\x01\\x00' + struct.pack('<H', len(head)) + head); "
                            "f.write(struct.pack('<2f', 1, 2)); f.close(); z.close()\"";
  REQUIRE(std::system(write.c_str()) == 0);
  CHECK(plx::load<plx::array<float, 1>>(name).to_vector() == std::vector<float>{1, 2});
  CHECK(refused<plx::array<float, 1>>(name, plx::program_hash{.high = 1}) ==
        "load: " + name + " was saved for no program");
}

TEST_CASE("programs have hashes, which files remember") {
  constexpr plx::program_hash hash = plx::hash_of(step, plx::shaped<float, 4>);
  static_assert(hash == plx::hash_of([](auto x) { return x * 2 + 1; }, plx::shaped<float, 4>));
  static_assert(!(hash == plx::hash_of(other_step, plx::shaped<float, 4>)));
  static_assert(!(hash == plx::hash_of(step, plx::shaped<float, 5>)));
  static_assert(!(hash == plx::hash_of(step, plx::shaped<double, 4>)));
  const std::string name = path("hashed.npz");
  plx::save(name, plx::array<float, 1>{1}, hash);
  CHECK(plx::load<plx::array<float, 1>>(name, hash)(0) == 1);
  CHECK(refused<plx::array<float, 1>>(name, plx::hash_of(other_step, plx::shaped<float, 4>)) ==
        "load: " + name + " was saved for another program, or by another version of it");
}

TEST_CASE("a file that is there is lost only to a complete one") {
  const std::string name = path("kept.npz");
  plx::save(name, 1.f);
  {
    plx::io::zip_writer begun(name);
    const std::byte data[3]{};
    begun.add("piece", "head", data, sizeof data);
  } // and never finished
  CHECK(plx::load<float>(name) == 1);
  plx::save(name, 2.f);
  CHECK(plx::load<float>(name) == 2);
  for (const auto& each : std::filesystem::directory_iterator(folder))
    CHECK(each.path().string().find(".part") == std::string::npos);
  const std::string nowhere = path("no such folder") + "/x.npz";
  try {
    plx::save(nowhere, 1.f);
    FAIL("it was saved");
  } catch (const plx::error& e) {
    CHECK(std::string(e.what()) == "save: " + nowhere + " cannot be written: No such file or directory");
  }
}

TEST_CASE("of threads and processes that save to one path each leaves a whole file") {
  const std::string name = path("contended.npz");
  const auto save_often = [&](float value) {
    const auto all = plx::array<float, 1>::filled({50000}, value);
    for (int k = 0; k < 25; ++k) plx::save(name, all);
  };
  // containers on one disk have one process number; two threads have it too
  const pid_t child = ::fork();
  if (child == 0) {
    bool threw = false;
    try {
      save_often(3);
    } catch (const std::exception&) {
      threw = true;
    }
    ::_exit(threw ? 1 : 0);
  }
  REQUIRE(child > 0);
  auto first = std::async(std::launch::async, save_often, 1.f),
       second = std::async(std::launch::async, save_often, 2.f);
  int reads = 0;
  const auto look = [&] {
    const auto back = plx::load<plx::array<float, 1>>(name);
    const float value = back(0);
    CHECK((value == 1 || value == 2 || value == 3));
    CHECK(std::ranges::all_of(back.to_vector(), [&](float each) { return each == value; }));
    ++reads;
  };
  while (first.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready)
    if (std::filesystem::exists(name)) look();
  CHECK_NOTHROW(first.get());
  CHECK_NOTHROW(second.get());
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  look();
  CHECK(reads > 0);
  for (const auto& each : std::filesystem::directory_iterator(folder))
    CHECK(each.path().string().find(".part") == std::string::npos);
}

TEST_CASE("a link is followed, also to a file that is not there, and permissions stay") {
  const std::filesystem::path real = folder / "real";
  std::filesystem::create_directories(real);
  plx::save(path("real/state.npz"), 1.f);
  std::filesystem::permissions(real / "state.npz", std::filesystem::perms{0640});
  std::filesystem::create_symlink("real/state.npz", folder / "link.npz");
  std::filesystem::create_symlink(folder / "link.npz", real / "second link.npz");
  std::filesystem::create_symlink("new.npz", real / "dangling.npz");
  plx::save(path("real/second link.npz"), 2.f);
  CHECK(std::filesystem::is_symlink(folder / "link.npz"));
  CHECK(std::filesystem::is_symlink(real / "second link.npz"));
  CHECK(plx::load<float>(path("real/state.npz")) == 2);
  CHECK(std::filesystem::status(real / "state.npz").permissions() == std::filesystem::perms{0640});
  plx::save(path("real/dangling.npz"), 3.f);
  CHECK(plx::load<float>(path("real/new.npz")) == 3);
  // a new file has the permissions of any new file
  std::ofstream(path("plain")) << "x";
  CHECK(std::filesystem::status(real / "new.npz").permissions() ==
        std::filesystem::status(path("plain")).permissions());
  std::filesystem::create_symlink("round.npz", folder / "round.npz");
  CHECK(not_saved(path("round.npz")) ==
        "save: " + path("round.npz") + " cannot be written: Too many levels of symbolic links");
}

TEST_CASE("what is no regular file is not replaced") {
  const auto refusal = [](const std::string& name) {
    return "save: " + name + " is no regular file: only such a one can be replaced";
  };
  const std::string pipe = path("pipe"), device = path("full"), inside = path("a folder");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::filesystem::create_symlink("/dev/full", device);
  std::filesystem::create_directories(inside);
  CHECK(not_saved(pipe) == refusal(pipe));
  CHECK(not_saved(device) == refusal(device));
  CHECK(not_saved(inside) == refusal(inside));
  CHECK(std::filesystem::is_fifo(pipe));
  CHECK(std::filesystem::is_character_file("/dev/full"));
  CHECK(not_saved(path("real/no folder/x.npz")) ==
        "save: " + path("real/no folder/x.npz") + " cannot be written: No such file or directory");
}

} // namespace save_test
