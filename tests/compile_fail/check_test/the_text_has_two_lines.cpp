// error: one line
#include <parallax/parallax.hpp>

#ifdef PARALLAX_EXPECT_ERROR
struct text {
  static constexpr parallax::detail::message error = parallax::detail::message() << "one line\nand another";
};
#endif

int main() {
#ifdef PARALLAX_EXPECT_ERROR
  parallax::detail::print_error<text>();
#endif
}
