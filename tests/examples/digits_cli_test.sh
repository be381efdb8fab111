#!/usr/bin/env bash
# Runs the digits example as a user does: faulty command lines and files, training on 1, 2, 4 and 8 devices, MNIST files.
# usage: digits_cli_test.sh DIGITS_PROGRAM DATA_DIRECTORY
. "$(dirname "$0")/cli_test_helpers.sh" "$1"
data=$2/digits.csv

# at_least FLOOR NAME: the last line of $scratch/NAME tells an accuracy of FLOOR per cent or more.
at_least() {
  awk -v floor="$1" '/^held-out accuracy/ { found = 1; good = $3 + 0 >= floor } END { exit !(found && good) }' "$scratch/$2" ||
    fail "$2: expected a held-out accuracy of at least $1 %, got: $(tail -n 1 "$scratch/$2")"
}

# same_parameters A B: both files hold the same arrays, no number differs by more than 1e-4.
same_parameters() {
  paste -d ' ' "$scratch/$1" "$scratch/$2" | awk '
    /^#/ { half = NF / 2; for (i = 1; i <= half; ++i) if ($i != $(i + half)) bad = 1; ++arrays; next }
    NF != 2 || $1 $2 ~ /nan|inf/ { bad = 1 }
    { d = $1 - $2; if (d < 0) d = -d; if (d > most) most = d; ++numbers }
    END { exit !(arrays == 6 && numbers > 0 && !bad && most <= 1e-4) }' || fail "the parameters of $1 and $2 differ"
}

echo "- faulty command lines"
expect_error 2 "unknown option '--epoch'" --epoch 3
expect_error 2 "unexpected argument 'digits.csv'" digits.csv
expect_error 2 "--hidden needs W1 W2 after it" --hidden 5
expect_error 2 "--hidden expects a whole number from 1 to 65536, got '0'" --hidden 0 5
expect_error 2 "--epochs expects a whole number" --epochs many
expect_error 2 "--rate expects a positive number, got '-1'" --rate=-1
expect_error 2 "--data and --mnist cannot be given together" --data a --mnist b
expect_error 2 "--devices asks for 9 devices, there are 8" --devices 9
expect_error 2 "batch size must be divisible by device count, got 100 and 8." --batch 100 --devices 8 --data "$data"
expect_error 2 "batch size must not exceed the number of training rows" --batch 2048 --data "$data"

expect_success help --help
grep -q -- "--save-parameters FILE" "$scratch/help" || fail "--help does not tell of --save-parameters"

echo "- faulty files"
expect_error 1 "none.csv: cannot be opened: No such file or directory" --data "$scratch/none.csv"
expect_error 1 "is a directory" --data "$scratch"
: >"$scratch/empty.csv"
expect_error 1 "empty.csv: holds no rows" --data "$scratch/empty.csv"
head -c 1000 "$data" >"$scratch/cut.csv"
expect_error 1 "cut.csv:7: " --data "$scratch/cut.csv"
sed '5s/,/;/' "$data" >"$scratch/wrong.csv"
expect_error 1 "wrong.csv:5: field 1 is '0;0', expected a pixel from 0 to 16" --data "$scratch/wrong.csv"
head -n 4 "$data" >"$scratch/short.csv"
expect_error 1 "at least 5 rows are needed to hold some out, got 4" --data "$scratch/short.csv"
expect_error 1 "is not a directory" --mnist "$scratch/none"
mkdir "$scratch/bare"
expect_error 1 "holds neither train-images-idx3-ubyte nor train-images-idx3-ubyte.gz" --mnist "$scratch/bare"
expect_error 1 "cannot be created: No such file or directory" --data "$data" --save-parameters "$scratch/none/p"

printf '0,\033[31m\n' >"$(printf '%s/a\nb\033[31m.csv' "$scratch")"
expect_error 1 "$scratch/a\\nb\\x1b[31m.csv:1: field 2 is '?[31m'" --data "$(printf '%s/a\nb\033[31m.csv' "$scratch")"

echo "- files that are there"
# expect_unchanged FILE: it is still what was saved as $scratch/unchanged, and nothing lies beside it.
expect_unchanged() {
  cmp -s "$1" "$scratch/unchanged" || fail "$1 was changed"
  [ "$(ls -A "$(dirname "$1")")" = "$(basename "$1")" ] || fail "beside $1: $(ls -A "$(dirname "$1")")"
}
mkdir "$scratch/kept"
cp "$data" "$scratch/kept/digits.csv"
cp "$data" "$scratch/unchanged"
for name in "$scratch/kept/digits.csv" "$scratch/kept/../kept/./digits.csv"; do
  expect_error 2 "--save-parameters would replace $scratch/kept/digits.csv, which is read" \
    --data "$scratch/kept/digits.csv" --save-parameters "$name" --epochs 1
  expect_unchanged "$scratch/kept/digits.csv"
done

echo "- a learning rate that is far too large"
expect_error 1 "the loss is no longer finite in epoch 1; try a smaller --rate" --data "$data" --rate 1e38 --epochs 1 \
  --save-parameters "$scratch/kept/digits.csv"
expect_unchanged "$scratch/kept/digits.csv"

echo "- an interrupted run"
"$program" --data "$data" --hidden 8 8 --epochs 1000000 --save-parameters "$scratch/kept/digits.csv" \
  >"$scratch/out" 2>"$scratch/err" &
SECONDS=0
until grep -q "^epoch 1/" "$scratch/out" || [ $SECONDS -gt 60 ]; do sleep 0.1; done
kill -TERM $! && wait $! 2>/dev/null
[ $? = 143 ] || fail "a run is not interrupted: $(cat "$scratch/err")"
expect_unchanged "$scratch/kept/digits.csv"

if [ -e /dev/full ]; then
  echo "- a full disk"
  timeout 60 "$program" --data "$data" --hidden 8 8 --epochs 1 >/dev/full 2>"$scratch/err" && fail "a full disk is not noticed"
  grep -q "the output cannot be written" "$scratch/err" || fail "a full disk is not told: $(cat "$scratch/err")"
fi

echo "- training reaches 96 % on held-out digits in less than a minute"
SECONDS=0
expect_success trained --data "$data"
[ $SECONDS -lt 60 ] || fail "training took $SECONDS s"
at_least 96 trained
grep -q "^epoch 1/40  loss [0-9.]*  accuracy [0-9.]* %  [0-9]* examples/s$" "$scratch/trained" ||
  fail "no line for the first epoch"
# 128 rows of 64 pixels and 10 targets, and the rate for each of 8 devices; the parameters stay where they are
grep -q "^each step moved $((128 * 74 * 4 + 8 * 4)) bytes to the devices (batch and rate) and 4 back (the loss)$" \
  "$scratch/trained" || fail "a step moves more than the batch, the rate and the loss: $(grep moved "$scratch/trained")"
grep -q "█" "$scratch/trained" || fail "no digits are drawn"
grep -q "reads [0-9]" "$scratch/trained" || fail "no predictions are shown"
if LC_ALL=C grep -q "$(printf '[\r\033]')" "$scratch/trained"; then fail "terminal codes in output that is no terminal"; fi

if command -v script >/dev/null; then
  echo "- a progress bar on a terminal"
  script -qec "'$program' --data '$data' --hidden 8 8 --epochs 1" /dev/null </dev/null >"$scratch/terminal" 2>&1
  grep -q "epoch 1/1 \[##*\] 11/11" "$scratch/terminal" || fail "no progress bar on a terminal"
fi

echo "- 1, 2, 4 and 8 devices give the same parameters"
for devices in 1 2 4 8; do
  expect_success "on_$devices" --data "$data" --hidden 48 32 --epochs 10 --devices $devices \
    --save-parameters "$scratch/parameters_$devices"
  same_parameters parameters_1 "parameters_$devices"
done
expect_success seeded --data "$data" --hidden 48 32 --epochs 10 --devices 1 --seed 1 --save-parameters "$scratch/parameters_seeded"
cmp -s "$scratch/parameters_1" "$scratch/parameters_seeded" && fail "another seed gives the same parameters"

echo "- MNIST files, plain and gzipped"
# idx_file MAGIC COUNT MORE_EXTENTS: the bytes of an IDX file with the numbers on stdin as its values.
idx_file() {
  local header
  header=$(printf '\\0000\\0000\\0010\\0%03o' "$1")
  shift
  for extent in "$@"; do header+=$(printf '\\0000\\0000\\0%03o\\0%03o' $((extent / 256)) $((extent % 256))); done
  printf '%b' "$header$(awk '{ printf "\\0%03o", $1 }')"
}
mnist=$scratch/mnist
mkdir "$mnist"
for part in train t10k; do
  if [ $part = train ]; then rows=(head -n 1400); count=1400; else rows=(tail -n 397); count=397; fi
  "${rows[@]}" "$data" | cut -d, -f 1-64 | tr , '\n' | awk '{ print int($1 * 255 / 16) }' |
    idx_file 3 $count 8 8 >"$mnist/$part-images-idx3-ubyte"
  "${rows[@]}" "$data" | cut -d, -f 65 | idx_file 1 $count >"$mnist/$part-labels-idx1-ubyte"
done
expect_success plain --mnist "$mnist" --epochs 10 --save-parameters "$scratch/parameters_plain"
grep -q "^1400 digits of 8x8 to learn from, 397 held out" "$scratch/plain" || fail "MNIST: wrong counts"
at_least 85 plain
head -c 5000 "$mnist/train-images-idx3-ubyte" >"$scratch/cut-images"
gzip "$mnist"/train-* "$mnist/t10k-labels-idx1-ubyte"
expect_success gzipped --mnist "$mnist" --epochs 10 --save-parameters "$scratch/parameters_gzipped"
same_parameters parameters_plain parameters_gzipped

cp "$mnist/train-images-idx3-ubyte.gz" "$scratch/whole.gz"
head -c 5000 "$scratch/whole.gz" >"$mnist/train-images-idx3-ubyte.gz"
expect_error 1 "train-images-idx3-ubyte.gz: is truncated: the gzip stream has no end" --mnist "$mnist"
cp "$scratch/cut-images" "$mnist/train-images-idx3-ubyte" # the plain file is preferred
expect_error 1 "train-images-idx3-ubyte: is truncated: 1400 x 8 x 8 are 89600 bytes, but it has 4984" --mnist "$mnist"
cp "$data" "$mnist/train-images-idx3-ubyte"
expect_error 1 "train-images-idx3-ubyte: magic number is 0x302c302c, expected 0x00000803" --mnist "$mnist"
rm "$mnist/train-images-idx3-ubyte"
{ printf '\000\000\010\003\377\377\377\377\000\000\020\000\000\000\020\000' && head -c 100000000 /dev/zero; } | gzip >"$mnist/train-images-idx3-ubyte.gz"
expect_error 1 "train-images-idx3-ubyte.gz: 4294967295 x 4096 x 4096 are 72057594021150720 bytes, the most that are read is 1073741824" \
  --mnist "$mnist"
expect_error 2 "--save-parameters would replace $mnist/t10k-labels-idx1-ubyte.gz, which is read" --mnist "$mnist" \
  --save-parameters "$mnist/t10k-labels-idx1-ubyte.gz"

finish
