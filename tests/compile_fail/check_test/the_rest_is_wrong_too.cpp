// Does not compile either way.
// error: undeclared
int main() { return undeclared; }
