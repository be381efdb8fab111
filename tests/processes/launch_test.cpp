// Which process this is, by what launchers set: no process is started here.
#include <parallax/distributed.hpp>

#include "support/test.hpp"

#include <map>
#include <string>

namespace launch_test {

namespace {

namespace distributed = parallax::distributed;
using distributed::launcher;
using variables = std::map<std::string, std::string>;

distributed::launch found(const variables& set, const distributed::options& given = {}) {
  return distributed::find_launch(given, [&](const char* name) {
    const auto at = set.find(name);
    return at == set.end() ? std::string() : at->second;
  });
}
constexpr int nobody_says = -1;

void check(const distributed::launch& is, launcher by, int index, int count, int local) {
  CHECK(is.by == by);
  CHECK(is.index == index);
  CHECK(is.count == count);
  CHECK(is.local_index == local);
}
std::string refused(const variables& set, const distributed::options& given = {}) {
  try {
    found(set, given);
  } catch (const parallax::error& e) {
    return e.what();
  }
  return "it was not refused";
}

const variables open_mpi{
    {"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "8"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}};
const variables mpich{{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}};
const variables torchrun{
    {"MASTER_ADDR", "node0"}, {"MASTER_PORT", "29400"}, {"RANK", "5"}, {"WORLD_SIZE", "6"}, {"LOCAL_RANK", "2"}};
const variables slurm_step{{"SLURM_JOB_ID", "17"},
                           {"SLURM_STEP_ID", "0"},
                           {"SLURM_PROCID", "2"},
                           {"SLURM_STEP_NUM_TASKS", "4"},
                           {"SLURM_LOCALID", "0"}};
const variables own{
    {"PARALLAX_COORDINATOR", "node1:4000"}, {"PARALLAX_PROCESS_INDEX", "1"}, {"PARALLAX_PROCESS_COUNT", "3"}};

variables both(variables a, const variables& b) {
  a.insert(b.begin(), b.end());
  return a;
}

} // namespace

TEST_CASE("each launcher's variables are found") {
  check(found({}), launcher::none, 0, 1, nobody_says);
  check(found(open_mpi), launcher::mpi, 3, 8, 1);
  check(found(mpich), launcher::mpi, 1, 2, nobody_says);
  check(found(torchrun), launcher::environment, 5, 6, 2);
  CHECK(found(torchrun).coordinator == "node0:29401");
  check(found(slurm_step), launcher::slurm, 2, 4, 0);
  check(found(own), launcher::environment, 1, 3, nobody_says);
  CHECK(found(own).coordinator == "node1:4000");
  CHECK(found(open_mpi).reason == "OMPI_COMM_WORLD_RANK=3 and OMPI_COMM_WORLD_SIZE=8");
}

TEST_CASE("an allocation of Slurm is no step of it") {
  variables shell{{"SLURM_JOB_ID", "17"}, {"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}};
  check(found(shell), launcher::none, 0, 1, nobody_says);
}

TEST_CASE("what is named first counts: options, our variables, torchrun, MPI, Slurm") {
  const variables all = both(both(both(slurm_step, open_mpi), torchrun), own);
  distributed::options told;
  told.process_index = 0, told.process_count = 2;
  check(found(all, told), launcher::environment, 0, 2, nobody_says);
  check(found(all), launcher::environment, 1, 3, nobody_says);
  check(found(both(both(slurm_step, open_mpi), torchrun)), launcher::environment, 5, 6, 2);
  check(found(both(slurm_step, open_mpi)), launcher::mpi, 3, 8, 1);
}

TEST_CASE("a launcher that is named is the only one asked") {
  check(found(both(torchrun, open_mpi), {.how = launcher::mpi}), launcher::mpi, 3, 8, 1);
  check(found(both(slurm_step, open_mpi), {.how = launcher::slurm}), launcher::slurm, 2, 4, 0);
  check(found(open_mpi, {.how = launcher::none}), launcher::none, 0, 1, nobody_says);
  CHECK(
      refused(open_mpi, {.how = launcher::slurm}) ==
      "distributed::initialize: the environment has nothing of the launcher that the options name; start the processes "
      "with it, or leave `how` out");
}

TEST_CASE("what contradicts itself is refused") {
  CHECK(refused(both(variables{{"PMI_RANK", "2"}}, mpich)) ==
        "distributed::initialize: PMI_RANK is 2 and PMI_SIZE is 2; the index is from 0 to the count less 1");
  CHECK(refused({{"PMI_RANK", "-1"}, {"PMI_SIZE", "2"}}) ==
        "distributed::initialize: PMI_RANK must be a number from 0 on, but it is \"-1\"");
  CHECK(refused({{"PARALLAX_PROCESS_COUNT", "2"}}) ==
        "distributed::initialize: PARALLAX_PROCESS_INDEX must be a number from 0 on, but it is \"\"");
  distributed::options told;
  told.process_count = 2;
  CHECK(refused({}, told) == "distributed::initialize: options.process_index is -1 and options.process_count is 2; the "
                             "index is from 0 to the count less 1");
}

TEST_CASE("several processes without an engine are an error") {
  distributed::options told;
  told.process_index = 0, told.process_count = 2;
  try {
    const auto session = distributed::initialize(told);
    FAIL("a session was opened");
  } catch (const parallax::error& e) {
    CHECK(std::string(e.what()) ==
          "distributed::initialize: there are 2 processes (the options), but nothing joins them: include "
          "<parallax/distributed/mpi.hpp>, link with parallax::mpi and start them with mpirun or srun, or name process "
          "0's address, PARALLAX_COORDINATOR=host:port");
  }
}

TEST_CASE("without a session a process is alone") {
  CHECK(distributed::process_index() == 0);
  CHECK(distributed::process_count() == 1);
  CHECK(distributed::device_count() == parallax::device_count());
  CHECK(distributed::gather(3).size() == 1);
  CHECK(distributed::broadcast_from(0, 7) == 7);
  distributed::barrier("nobody else");
}

} // namespace launch_test
