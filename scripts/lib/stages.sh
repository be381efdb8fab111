# Runs stages one after another, each for a limited time, and appends to a report how each went as soon as it ends, so that
# a crash or a hang in one loses nothing of the others. To be sourced after common.sh.

stage_names=() stage_outcomes=()

# begin_report REPORT SECONDS FULL: how long all stages may take, what was done before them included; stages say their limits
# for FULL seconds, and have less in proportion where there is less.
begin_report() {
  stage_report=$1 stage_seconds=$2 stage_full=$3
  rm -f "$stage_report"
}

# record STAGE OUTCOME SECONDS: "passed", or why not.
record() {
  stage_names+=("$1") stage_outcomes+=("$2")
  # whoever was stopped may have left half a line
  if [[ -s $stage_report && -n $(tail -c 1 "$stage_report") ]]; then echo >>"$stage_report"; fi
  printf '{"stage": "%s", "outcome": "%s", "seconds": %d}\n' "$1" "$2" "$3" >>"$stage_report"
  echo "$1: $2"
}

# stage NAME LIMIT COMMAND...: runs a command for at most so many seconds. One that exits with 77 says that it cannot run.
stage() {
  local name=$1 limit=$(($2 * stage_seconds / stage_full)) left=$((stage_seconds - SECONDS)) code=0 begin=$SECONDS outcome
  shift 2
  if ((left <= 0)); then
    record "$name" "skipped: no time was left" 0
    return
  fi
  if ((limit < 1)); then limit=1; fi
  if ((limit > left)); then limit=$left; fi
  say "$name, for $limit s at most"
  timeout -k 5 "$limit" "$@" || code=$?
  case $code in
    0) outcome=passed ;;
    77) outcome="skipped: it cannot be done here" ;;
    124 | 137) outcome="stopped after $((SECONDS - begin)) s" ;;
    129 | 13[0-9] | 14[0-9] | 15[0-9]) outcome="ended by signal $((code - 128))" ;;
    *) outcome=failed ;;
  esac
  record "$name" "$outcome" $((SECONDS - begin))
}

# Says which stages did not pass, and whether all did that were not skipped.
all_went_well() {
  local i well=0
  for i in "${!stage_names[@]}"; do
    case ${stage_outcomes[i]} in
      passed) ;;
      skipped:*) echo "${stage_names[i]}: ${stage_outcomes[i]}" ;;
      *) echo "${stage_names[i]}: ${stage_outcomes[i]}" && well=1 ;;
    esac
  done
  return $well
}
