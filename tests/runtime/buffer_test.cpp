// The memory behind arrays: buffers and their owners, blocks that are used again, and what cannot be had.
#include <parallax/arrays/array.hpp>

#include "support/test.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace buffer_test {

namespace {

using namespace parallax;
using namespace parallax::detail;

template <class T> bool aligned(const T* p) { return reinterpret_cast<std::uintptr_t>(p) % 64 == 0; }

} // namespace

TEST_CASE("buffers are aligned and count their owners") {
  for (std::size_t bytes : {1u, 63u, 64u, 65u, 1000u, 100000u}) {
    buffer b = buffer::allocate(bytes);
    CHECK(aligned(b.data()));
    CHECK(b.bytes() == bytes);
    CHECK(b.unique());
    b.data()[bytes - 1] = std::byte{1};
    buffer c = b;
    CHECK_FALSE(b.unique());
    c = buffer();
    CHECK(b.unique());
  }
  CHECK(buffer::allocate(0).data() == nullptr);
  CHECK(buffer().bytes() == 0);
}

TEST_CASE("live buffers do not overlap and keep their contents") {
  std::vector<buffer> live;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < 300; ++i) {
      live.push_back(buffer::allocate(1 + i * 37));
      std::fill_n(live.back().data(), live.back().bytes(), static_cast<std::byte>(i));
    }
    bool intact = true;
    for (std::size_t i = 0; i < 300; ++i)
      for (std::size_t k = 0; k < live[i].bytes(); ++k)
        intact = intact && live[i].data()[k] == static_cast<std::byte>(i);
    CHECK(intact);
    live.clear();
  }
}

TEST_CASE("large arrays that are made one after another begin at other places of their pages") {
  if (!runtime::caches_memory) return; // a sanitizer has to see what is past the end
  release_cached_memory();
  std::vector<buffer> live;
  for (std::size_t i = 0; i < 8; ++i) {
    live.push_back(buffer::allocate(std::size_t{2} << 20)); // blocks of large pages
    std::fill_n(live.back().data(), live.back().bytes(), static_cast<std::byte>(i));
  }
  auto place_of = [](const buffer& of) { return reinterpret_cast<std::uintptr_t>(of.data()) % 4096; };
  for (std::size_t i = 0; i < live.size(); ++i) {
    CHECK(aligned(live[i].data()));
    CHECK(live[i].data()[0] == static_cast<std::byte>(i));
    CHECK(live[i].data()[live[i].bytes() - 1] == static_cast<std::byte>(i));
    for (std::size_t k = 0; k < i; ++k) {
      const std::size_t apart = place_of(live[i]) > place_of(live[k]) ? place_of(live[i]) - place_of(live[k])
                                                                      : place_of(live[k]) - place_of(live[i]);
      CHECK(apart >= 256);
    }
  }
  const void* first = live.back().data();
  live.pop_back();
  CHECK(buffer::allocate(std::size_t{2} << 20).data() == first); // a block keeps its place
  live.clear();
  release_cached_memory();
}

TEST_CASE("a freed block is used again") {
  if (!runtime::caches_memory) return; // a sanitizer watches each block
  release_cached_memory();
  const void* first = buffer::allocate(5000).data();
  CHECK(buffer::allocate(5000).data() == first);
  CHECK(buffer::allocate(4990).data() == first);
  const buffer other_class = buffer::allocate(50000);
  CHECK(other_class.data() != first);
  release_cached_memory();
}

TEST_CASE("the cache is bounded") {
  auto& cache = runtime::block_cache::instance();
  release_cached_memory();
  CHECK(cache.bytes() == 0);
  const std::size_t most = runtime::system_memory::most_to_keep();
  CHECK(most >= std::size_t{256} << 20);
  {
    std::vector<buffer> large; // five blocks of more than a quarter of the bound; their pages are never touched
    for (int i = 0; i < 5; ++i) large.push_back(buffer::allocate(most / 4));
  }
  CHECK(cache.bytes() <= most);
  CHECK(cache.bytes() >= (runtime::caches_memory ? most / 4 * 3 : 0));
  release_cached_memory();
  buffer::allocate(most + 1);
  CHECK(cache.bytes() == 0);
}

TEST_CASE("size classes hold what is asked and waste at most a fifth") {
  using cache = runtime::size_class;
  for (std::size_t size = 129; size <= cache::largest; size += 1 + size / 50) {
    const std::size_t capacity = cache::rounded(size);
    if (!runtime::caches_memory) REQUIRE(capacity == size);
    else REQUIRE((capacity >= size && (capacity - size) * 5 <= capacity));
    REQUIRE(cache::rounded(capacity) == capacity);
  }
  CHECK(cache::rounded(cache::largest) == cache::largest);
  CHECK(cache::rounded(cache::largest + 1) == cache::largest + 1);
}

TEST_CASE("memory that cannot be had is reported with its size") {
  const std::size_t impossible = std::size_t{1} << 63;
  CHECK_THROWS_AS(buffer::allocate(impossible), out_of_memory);
  try {
    buffer::allocate(impossible);
  } catch (const out_of_memory& e) {
    CHECK(e.bytes() == impossible);
  }
}

TEST_CASE("threads share and drop buffers") {
  const array<int, 1> shared = array<int, 1>::filled({1000}, 3);
  std::vector<std::int64_t> sums(4, 0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < sums.size(); ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 500; ++round) {
        array<int, 1> mine = shared;
        mine.mutable_data()[0] = static_cast<int>(t);
        sums[t] += mine(0) + mine(999);
      }
    });
  for (auto& thread : threads) thread.join();
  for (std::size_t t = 0; t < sums.size(); ++t) CHECK(sums[t] == 500 * (static_cast<std::int64_t>(t) + 3));
  CHECK(shared(0) == 3);
  CHECK(shared.storage().unique());
}

} // namespace buffer_test
