// Trees in files: what was saved is loaded, and damaged or other files are refused.
#include <parallax/io/save.hpp>
#include <parallax/parallax.hpp>

#include "test.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <tuple>

namespace save_test {

namespace {

namespace plx = parallax;

template <class T> struct layer {
  T weights, bias;
};

const std::filesystem::path folder = [] {
  auto made = std::filesystem::temp_directory_path() / ("parallax_save_" + std::to_string(::getpid()));
  std::filesystem::create_directories(made);
  return made;
}();
struct removed_at_end {
  ~removed_at_end() { std::filesystem::remove_all(folder); }
} const removes;

std::string path(const char* name) { return (folder / name).string(); }
std::string contents(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void write(const std::string& name, const std::string& bytes) {
  std::ofstream(name, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}
template <class Tree> std::string refused(const std::string& name, const plx::program_hash& program = {}) {
  try {
    plx::load<Tree>(name, program);
  } catch (const plx::error& e) {
    return e.what();
  }
  return "it was loaded";
}

using small = plx::array<float, plx::extents<2, 3>>;
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

TEST_CASE("other trees are refused") {
  const std::string name = path("other.npz");
  plx::save(name, std::pair{plx::array<float, 2>{{1, 2, 3}}, 4});
  const auto says = [&](const std::string& text) { return "load: leaf " + text; };
  CHECK(refused<std::pair<plx::array<double, 2>, int>>(name) ==
        says("0 of " + name + " is of another type than float64"));
  CHECK(refused<std::pair<plx::array<plx::bfloat16, 2>, int>>(name) ==
        says("0 of " + name + " is not there, or of another type than bfloat16"));
  CHECK(refused<std::pair<plx::array<float, 1>, int>>(name) == says("0 of " + name + " has rank 2, but 1 is wanted"));
  CHECK(refused<std::pair<small, int>>(name) ==
        says("0 of " + name + " has shape (1, 3), but its extent along axis 0 is to be 2"));
  CHECK(refused<plx::array<float, 2>>(name) == "load: " + name + " has more than 1 leaves");
  CHECK(refused<std::tuple<plx::array<float, 2>, int, int>>(name) ==
        says("2 of " + name + " is not there, or of another type than int32"));
  CHECK(refused<float>(path("missing.npz")) ==
        "load: " + path("missing.npz") + " cannot be read: No such file or directory");
}

TEST_CASE("a damaged file is refused or harmless, wherever it is damaged") {
  const std::string name = path("damaged.npz");
  const plx::array<float, 1> saved{1, 2, 3, 4};
  plx::save(name, saved);
  const std::string whole = contents(name);
  int refusals = 0;
  const auto look = [&](const std::string& bytes) {
    write(name, bytes);
    try {
      const auto back = plx::load<plx::array<float, 1>>(name);
      bool same = back.shape(0) == 4;
      for (std::int64_t i = 0; i < 4 && same; ++i) same = back(i) == saved(i);
      CHECK(same);
    } catch (const plx::error&) {
      ++refusals;
    }
  };
  for (std::size_t size = 0; size < whole.size(); ++size) look(whole.substr(0, size));
  CHECK(refusals == static_cast<int>(whole.size()));
  for (std::size_t i = 0; i < whole.size(); ++i)
    for (int bit : {0, 3, 7}) {
      std::string other = whole;
      other[i] = static_cast<char>(other[i] ^ (1 << bit));
      look(other);
    }
  CHECK(refusals > static_cast<int>(2 * whole.size()));
}

} // namespace save_test
