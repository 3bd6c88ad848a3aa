# phone_root.sh FOLDER: the first process of a phone. Makes a root as Android has it, without /lib, /etc and /tmp, from
# FOLDER. tests/devices/phone.py starts it in namespaces of its own.
folder=$1
root=$folder/root

# Sensors of a test, if it wants some, where this machine has its own.
show_sensors() {
  [ -d "$folder/sensors" ] || return 0
  for place in class/thermal class/power_supply devices/system/cpu; do
    if [ -d "/sys/$place" ]; then mount --bind "$folder/sensors/${place##*/}" "$root/sys/$place"; fi
  done
}

mount --make-rprivate /
mkdir -p "$root"
mount -t tmpfs -o mode=755 tmpfs "$root"
mkdir -p "$root/system" "$root/data/local/tmp" "$root/proc" "$root/sys" "$root/dev" "$root/old"
mount --bind "$folder/system" "$root/system"
mount -o remount,bind,ro "$root/system"
mount --bind "$folder/tmp" "$root/data/local/tmp"
mount --rbind /sys "$root/sys"
show_sensors
mount -t proc proc "$root/proc"
mount --bind "$folder/boot_id" "$root/proc/sys/kernel/random/boot_id"
for name in null zero full random urandom; do
  : >"$root/dev/$name"
  mount --bind "/dev/$name" "$root/dev/$name"
done
hostname localhost
cd "$root"
pivot_root . old
/system/bin/umount -l old
exec 3>&1
# The first process of a phone reaps what others leave, as a shell does that waits.
exec /system/bin/sh -c 'rmdir /old; mount -o remount,ro tmpfs /; echo ready >&3; exec 3>&- >&-; while :; do sleep 1000000; done' </dev/null
