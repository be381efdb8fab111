# What findings share. To be sourced: `install_python pins...` installs public packages into a temporary folder, which is
# removed in the end, and `behaves BEHAVIOUR` reads a program, runs it there, prints what it says, and fails unless the last
# line is that.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

install_python() {
  "${PYTHON:-python3}" -m venv "$folder/python"
  "$folder/python/bin/pip" install --quiet --disable-pip-version-check "$@"
}

behaves() {
  local said
  said=$(JAX_PLATFORMS=cpu "$folder/python/bin/python" -)
  printf '%s\n' "$said"
  [[ ${said##*$'\n'} == "$1" ]] || {
    echo "behaved otherwise before: $1" >&2
    exit 1
  }
}
