# What the command line tests share: sourced by `<name>_cli_test.sh`, with the path of the program under test.
set -u

program=$1
program_name=$(basename "$program")
export PARALLAX_HOST_DEVICES=8
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

# expect_error STATUS TEXT ARGUMENT...: the program ends with STATUS and one line on stderr that contains TEXT.
expect_error() {
  local status=$1 text=$2 got
  shift 2
  timeout 60 "$program" "$@" >"$scratch/out" 2>"$scratch/err"
  got=$?
  [ "$got" = "$status" ] || fail "$program_name $*: exit status $got, expected $status"
  [ "$(wc -l <"$scratch/err")" = 1 ] || fail "$program_name $*: expected one line on stderr, got: $(cat "$scratch/err")"
  grep -qF -- "$text" "$scratch/err" || fail "$program_name $*: expected '$text', got: $(cat "$scratch/err")"
}

# expect_success NAME ARGUMENT...: the program ends well; its output goes to $scratch/NAME.
expect_success() {
  local name=$1
  shift
  timeout 600 "$program" "$@" >"$scratch/$name" 2>"$scratch/err" || fail "$program_name $*: $(cat "$scratch/err")"
  [ -s "$scratch/err" ] && fail "$program_name $*: unexpected on stderr: $(cat "$scratch/err")"
}

# finish: reports, and ends the test.
finish() {
  [ $failures = 0 ] || { echo "$failures failures" >&2; exit 1; }
  echo "all passed"
  exit 0
}
