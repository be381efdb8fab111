// The sample for the checks themselves: it needs nothing but the language.
// error: invalid conversion|cannot initialize|cannot be used to initialize
// line: int length = "text";
int main() {
#ifdef PARALLAX_EXPECT_ERROR
  int length = "text";
#else
  int length = 4;
#endif
  return length;
}
