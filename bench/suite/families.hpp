// The families of cases, each of which `suite <family>` runs alone; `peers.py` has the same.
#pragma once

namespace bench {

void add_elementwise();
void add_functions();
void add_rows();
void add_products();
void add_training();
void add_loops();
void add_random();
void add_devices();

} // namespace bench
