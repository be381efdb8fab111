// Files that are refused: damaged ones, those with wrong heads, and those of other trees.
#include <parallax/io/save.hpp>
#include <parallax/parallax.hpp>

#include "io/saved_files.hpp"
#include "support/test.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <ios>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace refused_files_test {

namespace {

namespace plx = parallax;
using namespace saved_files;

std::string contents(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void write(const std::string& name, const std::string& bytes) {
  std::ofstream(name, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

using matrix = plx::array<float, 2>;

std::string shaped(const std::string& shape) {
  return "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
}
/// A file whose leaf has this head, and comes a second time with the other head if there is one.
std::string with(const std::string& head, const std::string& again = {}) {
  const std::string name = path("heads.npz");
  const auto file = [](const std::string& text) {
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size()) + '\0' + text;
  };
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
}
/// What `load` says of the leaf of such files.
std::string of_leaf(const std::string& what) { return "load: leaf 0 of " + path("heads.npz") + what; }
bool loads(const std::string& head) {
  const auto back = plx::load<matrix>(with(head));
  return back.shape(0) == 2 && back.shape(1) == 3 && back(1, 2) == 6;
}

} // namespace

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

TEST_CASE("shapes are read as NumPy reads them, or refused") {
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
    CHECK(refused<matrix>(with(shaped(wrong))) == of_leaf(" is no array"));
}

TEST_CASE("heads are read as NumPy reads them, or refused") {
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
    CHECK(refused<matrix>(with(wrong)) == of_leaf(" is no array"));
  CHECK(refused<matrix>(with("{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3)}")) ==
        of_leaf(" is of another type than float32"));
  CHECK(refused<matrix>(with("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}")) ==
        of_leaf(" is in column-major order"));
  for (const char* wrong : {"(2, 2)", "(3, 3)", "(0, 3)"})
    CHECK(refused<matrix>(with(shaped(wrong))) == of_leaf(" has another number of elements than its shape"));
  for (const char* wrong : {"(0, 999999999999999999)", "(281474976710656, 2)"})
    CHECK(refused<matrix>(with(shaped(wrong))) == of_leaf(" is too large"));
  CHECK(refused<matrix>(with(shaped("(6)"))) == of_leaf(" is no array"));
  CHECK(refused<matrix>(with(shaped("(6,)"))) == of_leaf(" has rank 1, but 2 is wanted"));
  CHECK(refused<matrix>(with(shaped("()"))) == of_leaf(" has rank 0, but 2 is wanted"));

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

} // namespace refused_files_test
