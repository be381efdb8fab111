// What is wrong is said behind much else.
// error: conversion|initialize return
#ifdef PARALLAX_EXPECT_ERROR
#warning Each of these takes three lines:
#warning the warning,
#warning the line that it is on,
#warning and where on the line,
#warning so that the mistake
#warning is not near the top.
#endif
int main() {
#ifdef PARALLAX_EXPECT_ERROR
  return "text";
#endif
}
