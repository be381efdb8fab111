// Wrong in another way than it says.
// error: no member named 'size'
int main() {
#ifdef PARALLAX_EXPECT_ERROR
  return "text";
#endif
}
