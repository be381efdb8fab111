#!/usr/bin/env bash
# Runs the pmap cookbook as a user does: faulty command lines, the quick size, and the notebook's own, which takes 2 GB.
# usage: pmap_cookbook_cli_test.sh COOKBOOK_PROGRAM [DATA_DIRECTORY]
. "$(dirname "$0")/cli_test_helpers.sh" "$1"

# moved_only_means NAME: a key went to each of the 8 devices, and a mean came back.
moved_only_means() {
  grep -q "^moved: 64 bytes to the devices, 32 from the devices, 0 between them" "$scratch/$1" ||
    fail "$1: more than keys and means moved: $(grep "^moved" "$scratch/$1")"
}

echo "- faulty command lines"
expect_error 2 "--size expects two numbers from 1 to 20000, as in 5000x6000, got '5000'" --size 5000
expect_error 2 "--size needs ROWSxCOLUMNS after it" --size
expect_error 2 "unknown argument 'size'" size
PARALLAX_HOST_DEVICES=4 expect_error 1 "requires 7 logical devices, but only 4 devices are available"
expect_success help --help
grep -q -- "--size ROWSxCOLUMNS" "$scratch/help" || fail "--help does not tell of --size"

echo "- every cell, its code first"
expect_success quick
cells=$(sed -n 's|^// \[\([0-9]*\)\].*|\1|p' "$scratch/quick" | tr '\n' ' ')
[ "$cells" = "7 9 11 12 13 14 18 19 21 22 23 27 29 31 33 36 37 " ] || fail "the cells are $cells"
for line in "[ 0  1  4  9 16 25 36]" "[ 0.   0.5  2.   4.5  8.  12.5 18.  24.5]" "8 x 500 x 600" "8 x 500 x 500" \
  "[0.         0.16666667 0.33333334 0.5       ]" " [0.46153846 0.53846157]]" " *  *   ***  ****     **** *** **   *   |"; do
  grep -qxF -- "$line" "$scratch/quick" || fail "no line '$line'"
done
moved_only_means quick

echo "- the notebook's matrices of 5000 x 6000"
expect_success full --size 5000x6000
grep -A 2 '^> means(result)' "$scratch/full" | tail -n 2 | tr -d '[]\n' |
  awk '{
    split("1.2110119 1.2357731 1.1866627 1.2014718 1.1860371 1.1531778 1.1800351 1.2007264", golden)
    for (i = 1; i <= 8; ++i) { d = $i - golden[i]; if (d < 0) d = -d; if (d > 1e-4) bad = 1 }
    exit NF != 8 || bad
  }' || fail "the means are $(grep -A 2 '^> means(result)' "$scratch/full")"
moved_only_means full

finish
