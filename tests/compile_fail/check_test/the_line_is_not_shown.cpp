// The error comes from another line than it says.
// error: conversion|initialize return
// line: int main
int main() {
#ifdef PARALLAX_EXPECT_ERROR
  return "text";
#endif
}
