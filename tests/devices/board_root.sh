# board_root.sh FOLDER [ARM64]: the first process of a board. Makes its root from FOLDER, then becomes its sshd.
# ARM64 is the folder of the packages for a board of that architecture. tests/devices/board.py starts this script in
# namespaces of its own.
folder=$1 arm64=${2-}
PATH=$PATH:/usr/sbin:/sbin
root=$folder/root

# show SOURCE PATH: what is at SOURCE here is at PATH there, and cannot be written.
show() {
  if [ -d "$1" ]; then mkdir -p "$root$2"; else mkdir -p "$root${2%/*}" && : >"$root$2"; fi
  mount --rbind "$1" "$root$2"
  mount -o remount,bind,ro "$root$2" 2>/dev/null || :
}

show_programs_of_this_machine() {
  show /usr /usr
  for name in bin sbin lib lib64; do ln -s "usr/$name" "$root/$name"; done
  show "$(command -v unshare)" /opt/host/unshare
  show "$(command -v sshd)" /opt/host/sshd
}

# Busybox and what programs are linked with, from the unpacked packages; sshd and its libraries are this machine's.
show_programs_of_arm() {
  show "$arm64/lib/ld-linux-aarch64.so.1" /lib/ld-linux-aarch64.so.1
  show "$arm64/lib/aarch64-linux-gnu" /lib/aarch64-linux-gnu
  show "$arm64/usr/lib/aarch64-linux-gnu" /usr/lib/aarch64-linux-gnu
  show "$folder/bin" /bin
  show "$(command -v unshare)" /opt/host/unshare
  show "$(command -v sshd)" /opt/host/sshd
  show "/lib/$(uname -m)-linux-gnu" "/lib/$(uname -m)-linux-gnu"
  show /lib64 /lib64
  if [ -d /usr/lib/openssh ]; then show /usr/lib/openssh /usr/lib/openssh; fi
}

# Sensors of a test, if it wants some, where this machine has its own.
show_sensors() {
  [ -d "$folder/sensors" ] || return 0
  for place in class/thermal class/power_supply devices/system/cpu; do
    if [ -d "/sys/$place" ]; then mount --bind "$folder/sensors/${place##*/}" "$root/sys/$place"; fi
  done
}

make_devices() {
  for name in null zero full random urandom tty; do
    : >"$root/dev/$name"
    mount --bind "/dev/$name" "$root/dev/$name"
  done
  ln -s /proc/self/fd "$root/dev/fd"
  mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
  mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts "$root/dev/pts"
  ln -s pts/ptmx "$root/dev/ptmx"
}

mount --make-rprivate /
mkdir -p "$root"
mount -t tmpfs -o mode=755 tmpfs "$root"
mkdir -p "$root/dev/shm" "$root/dev/pts" "$root/proc" "$root/sys" "$root/tmp" "$root/run" "$root/home/board" "$root/old"
if [ -n "$arm64" ]; then show_programs_of_arm; else show_programs_of_this_machine; fi
show "$folder/etc" /etc
mount --bind "$folder/home" "$root/home/board"
if [ -d "$folder/guest" ]; then
  mkdir "$root/home/guest"
  mount --bind "$folder/guest" "$root/home/guest"
fi
mount -t tmpfs -o mode=1777,size=64m tmpfs "$root/tmp"
mkdir -m 1777 "$root/run/lock"
mount --rbind /sys "$root/sys"
show_sensors
mount -t proc proc "$root/proc"
mount --bind "$folder/boot_id" "$root/proc/sys/kernel/random/boot_id"
make_devices
hostname board
echo 0 >"$root/proc/sys/net/ipv4/ip_unprivileged_port_start"
cd "$root"
pivot_root . old
umount -l old

# start_sshd ID CONFIG: an sshd of a user of the board, not of root. It is a user of the kernel where the home belongs to
# one, else by a name space of users that has no other.
start_sshd() {
  if [ "$(stat -c %u /home/board)" = 0 ]; then
    set -- "$2" /opt/host/unshare --user --map-user="$1" --map-group="$1"
  else
    set -- "$2" setpriv --reuid="$1" --regid="$1" --clear-groups
  fi
  config=$1
  shift
  exec "$@" /opt/host/sshd -D -e -f "/etc/ssh/$config"
}

if [ -d /home/guest ]; then start_sshd 1001 sshd_config_of_guest & fi
echo ready
# sshd knows how to be the first process: it reaps what others leave.
start_sshd 1000 sshd_config
