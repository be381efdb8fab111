#!/usr/bin/env bash
# Runs the transformer as a user does, for a few steps.
# usage: transformer_cli_test.sh TRANSFORMER_PROGRAM [DATA_DIRECTORY]
. "$(dirname "$0")/cli_test_helpers.sh" "$1"

echo "- faulty command lines"
expect_error 2 "--steps needs a number from 1 on, not '0'" --steps 0
expect_error 2 "--steps needs a number" --steps
expect_error 2 "there is no option '--step'" --step
expect_error 1 "cannot read $scratch/none" "$scratch/none"
printf 'short' >"$scratch/short"
expect_error 1 "has less than 65 characters" "$scratch/short"

echo "- a text that repeats itself is learnt"
for _ in $(seq 30); do printf 'abcdefg\n'; done >"$scratch/text"
expect_success written --steps 100 "$scratch/text"
last=$(sed -n 's/^step 100  loss //p' "$scratch/written")
awk -v last="$last" 'BEGIN { exit !(last != "" && last < 0.5) }' || fail "the loss is '$last' after 100 steps"
grep -qx 'abcdefg' "$scratch/written" || fail "it has not learnt the text: $(cat "$scratch/written")"

finish
