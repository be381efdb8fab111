// The main function of every test executable.
#define CATCH_CONFIG_RUNNER
#include "support/test.hpp"

int main(int argument_count, char* arguments[]) { return Catch::Session().run(argument_count, arguments); }
