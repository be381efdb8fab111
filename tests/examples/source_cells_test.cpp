// Tests of examples/support/source_cells.hpp.
#include "support/source_cells.hpp"

#include "support/test.hpp"
#include "temporary_directory.hpp"
#include "thrown_message.hpp"

namespace source_cells_test {

using namespace examples;

TEST_CASE("the cells of a source file are quoted as they stand") {
  temporary_directory directory;
  source_cells cells(directory.write("code.hpp", "int before;\n\n// [7] One\nint a() {\n\n  return 1;\n}\n\n"
                                                 "// [12] Two\nint b;\n\n} // namespace x\n// [13] Three"));
  CHECK(cells[7] == "// [7] One\nint a() {\n\n  return 1;\n}");
  CHECK(cells[12] == "// [12] Two\nint b;");
  CHECK(cells[13] == "// [13] Three");
  CHECK(thrown_message<data_error>([&] { cells[8]; }) == directory.path("code.hpp") + ": has no cell [8]");
}

TEST_CASE("a source file without readable cells is named") {
  temporary_directory directory;
  CHECK(thrown_message<data_error>([&] { source_cells{directory.path("none")}; }) ==
        directory.path("none") + ": cannot be opened: No such file or directory");
  auto wrong = directory.write("wrong.hpp", "// [x] One\n");
  CHECK(thrown_message<data_error>([&] { source_cells{wrong}; }) ==
        wrong + ": a cell begins with // [number], not '// [x] One'");
}

} // namespace source_cells_test
