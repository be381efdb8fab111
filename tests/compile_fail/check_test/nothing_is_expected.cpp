// Wrong, but without a word on what the compiler should say.
int main() {
#ifdef PARALLAX_EXPECT_ERROR
  return "text";
#endif
}
