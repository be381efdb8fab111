// Trees in files: what was saved is loaded, and damaged or other files are refused.
#include <parallax/io/save.hpp>
#include <parallax/parallax.hpp>

#include "test.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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

std::string not_saved(const std::string& name) {
  try {
    plx::save(name, 1.f);
  } catch (const plx::error& e) {
    return e.what();
  }
  return "it was saved";
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

TEST_CASE("checksums are those of zip, however the bytes are cut") {
  const auto sum_of = [](std::string_view text) {
    return plx::io::crc32(0, reinterpret_cast<const std::byte*>(text.data()), text.size());
  };
  CHECK(sum_of("") == 0);
  CHECK(sum_of("123456789") == 0xcbf43926U);
  CHECK(sum_of("The quick brown fox jumps over the lazy dog") == 0x414fa339U);
  std::mt19937 random(1);
  std::string bytes;
  for (int i = 0; i < 200; ++i) bytes += static_cast<char>(random());
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    std::uint32_t bit_by_bit = 0xffffffffU;
    for (const char c : bytes.substr(0, size)) {
      bit_by_bit ^= static_cast<unsigned char>(c);
      for (int bit = 0; bit < 8; ++bit) bit_by_bit = (bit_by_bit >> 1) ^ ((bit_by_bit & 1) != 0 ? 0xedb88320U : 0U);
    }
    const auto* const data = reinterpret_cast<const std::byte*>(bytes.data());
    CHECK(plx::io::crc32(0, data, size) == ~bit_by_bit);
    CHECK(plx::io::crc32(plx::io::crc32(0, data, size / 3), data + size / 3, size - size / 3) == ~bit_by_bit);
  }
}

TEST_CASE("heads are read as NumPy reads them, or refused") {
  const std::string name = path("heads.npz");
  const auto file = [](const std::string& text) {
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size()) + '\0' + text;
  };
  const auto with = [&](const std::string& head, const std::string& again = {}) {
    const std::array<float, 6> data{1, 2, 3, 4, 5, 6};
    const std::array<std::uint64_t, 2> program{plx::program_hash{}.high, plx::program_hash{}.low};
    plx::io::zip_writer archive(name);
    archive.add("program.npy", file("{'descr': '<u8', 'fortran_order': False, 'shape': (2,), }"),
                reinterpret_cast<const std::byte*>(program.data()), sizeof program);
    archive.add("leaf_0.npy", file(head), reinterpret_cast<const std::byte*>(data.data()), sizeof data);
    const std::array<float, 6> others{7, 8, 9, 10, 11, 12};
    if (!again.empty())
      archive.add("leaf_0.npy", file(again), reinterpret_cast<const std::byte*>(others.data()), sizeof others);
    archive.finish();
    return name;
  };
  const auto shaped = [](const std::string& shape) {
    return "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
  };
  const std::string no_array = "load: leaf 0 of " + name + " is no array";
  using matrix = plx::array<float, 2>;
  const auto loads = [&](const std::string& head) {
    const auto back = plx::load<matrix>(with(head));
    return back.shape(0) == 2 && back.shape(1) == 3 && back(1, 2) == 6;
  };

  CHECK(loads(shaped("(2, 3)")));
  CHECK(loads(shaped("(2,3,)")));
  CHECK(loads(shaped("( 2 ,\t3 )") + "   \n"));
  CHECK(loads(R"({"shape":(2,3),"fortran_order":False,"descr":"<f4"})"));
  for (const char* wrong : {"(-2, 3)",
                            "(-2, -3)",
                            "(2.3,)",
                            "(2_3,)",
                            "('2','3')",
                            "[2, 3]",
                            "(2, 3",
                            "2, 3)",
                            "(2 3)",
                            "(,)",
                            "(2,,3)",
                            "(02, 3)",
                            "(0x2, 3)",
                            "(+2, 3)",
                            "(True, 3)",
                            "((2, 3))",
                            "(99999999999999999999, 3)",
                            "None",
                            "()()",
                            ""})
    CHECK(refused<matrix>(with(shaped(wrong))) == no_array);
  for (const char* wrong :
       {"", "{}", "{'descr': '<f4', 'fortran_order': False}", "{'descr': '<f4', 'shape': (2, 3)}",
        "{'fortran_order': False, 'shape': (2, 3)}", "{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 3)}",
        "{'descr': '<f4', 'fortran_order': Falsehood, 'shape': (2, 3)}",
        "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2, 3)}",
        "{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (2, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)} + {}",
        "{'descr': '<f4' 'fortran_order': False, 'shape': (2, 3)}",
        "{'descr': '<i4', 'note': \"'descr': '<f4'\", 'fortran_order': False, 'shape': (2, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'x': 0}"})
    CHECK(refused<matrix>(with(wrong)) == no_array);
  CHECK(refused<matrix>(with("{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3)}")) ==
        "load: leaf 0 of " + name + " is of another type than float32");
  CHECK(refused<matrix>(with("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}")) ==
        "load: leaf 0 of " + name + " is in column-major order");
  for (const char* wrong : {"(2, 2)", "(3, 3)", "(0, 3)"})
    CHECK(refused<matrix>(with(shaped(wrong))) ==
          "load: leaf 0 of " + name + " has another number of elements than its shape");
  for (const char* wrong : {"(0, 999999999999999999)", "(281474976710656, 2)"})
    CHECK(refused<matrix>(with(shaped(wrong))) == "load: leaf 0 of " + name + " is too large");
  CHECK(refused<matrix>(with(shaped("(6)"))) == no_array);
  CHECK(refused<matrix>(with(shaped("(6,)"))) == "load: leaf 0 of " + name + " has rank 1, but 2 is wanted");
  CHECK(refused<matrix>(with(shaped("()"))) == "load: leaf 0 of " + name + " has rank 0, but 2 is wanted");

  // of a key, and of a piece, that comes twice Python takes the last
  CHECK(loads("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), 'shape': (2, 3)}"));
  CHECK(plx::load<matrix>(with(shaped("(2, 3)"), shaped("(3, 2)")))(2, 1) == 12);
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
