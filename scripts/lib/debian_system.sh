# Debian systems under build/, each with mounts and processes of its own. To be sourced behind common.sh.

# Runs this script anew, so that nothing that it mounts or starts outlives it. Needs root.
by_itself() {
  if ((EUID != 0)); then
    echo "${0##*/}: a system within this one is made by root alone" >&2
    exit 2
  fi
  if [[ ${1:-} != --by-itself ]]; then
    exec unshare --mount --propagation private --pid --fork --kill-child "$PWD/scripts/${0##*/}" --by-itself "$@"
  fi
  trap 'exit 1' INT TERM
}

# Makes a bare system of a suite, such as trixie, in a folder, unless it is there.
make_system() {
  local suite=$1 system=$2
  install_packages debian-archive-keyring debootstrap gpgv
  [[ -d $system ]] && return
  rm -rf "$system.part"
  mkdir -p "$system.part"
  debootstrap --variant=minbase --force-check-gpg --keyring=/usr/share/keyrings/debian-archive-keyring.gpg \
    "$suite" "$system.part" http://deb.debian.org/debian
  mv "$system.part" "$system"
}

# Copies the sources as they are now to /parallax of a system. What is built there stays.
copy_sources() {
  mkdir -p "$1/parallax"
  find "$1/parallax" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
  git ls-files -z --cached --others --exclude-standard | tar --create --null --files-from=- | tar --extract --directory="$1/parallax"
}

# Gives a system what programs expect of one.
mount_system() {
  mount -t proc proc "$1/proc"
  mount --bind /dev/pts "$1/dev/pts" # a test wants a terminal
}
