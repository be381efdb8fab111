// The line that should be wrong is not.
// error: anything
int main() {
#ifdef PARALLAX_EXPECT_ERROR
  return 0;
#endif
}
