#!/bin/sh
# The first process of an emulated machine (tests/devices/machine.py).
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
for module in virtio_ring virtio virtio_mmio failover net_failover virtio_net; do
  insmod "/modules/$module.ko"
done
# Memory that is not there is found missing when it is used, as on phones.
echo 1 >/proc/sys/vm/overcommit_memory
hostname machine
ip link set lo up
ip link set eth0 up
ip address add 10.0.2.15/24 dev eth0
mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -t tmpfs -o size=64m,mode=755 tmpfs /home/board
cp -r /ssh /home/board/.ssh
chown -R board:board /home/board
chmod 700 /home/board/.ssh
dropbear -s -r /host_key -P /dev/null
# The first process reaps what others leave, as a shell does that waits.
while :; do sleep 1000000; done
