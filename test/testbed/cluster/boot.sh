#!/bin/sh
# Runs first at every boot of a testbed node; settings come from /etc/testbed-node.
set -eu
. /etc/testbed-node

# systemd-nspawn mounts the controllers of cgroup v1 read-only; kubelet and containerd write to them.
if [ ! -e /sys/fs/cgroup/cgroup.controllers ]; then
	for controller in /sys/fs/cgroup/*/; do
		mount -o remount,bind,rw "$controller"
	done
fi

# Mounts that the kubelet makes must be seen inside containers.
mount --make-rshared /

ip address replace "$ADDRESS" dev host0
ip link set host0 up
ip route replace default via "$GATEWAY"
for route in $ROUTES; do
	ip route replace "${route%,*}" via "${route#*,}"
done

echo 1 >/proc/sys/net/ipv4/ip_forward
if [ -e /proc/sys/net/bridge/bridge-nf-call-iptables ]; then
	echo 1 >/proc/sys/net/bridge/bridge-nf-call-iptables
fi

# Until kube-proxy knows a Service, say so at once. A connection that was lost in silence
# would keep its clients waiting for half a minute after kube-proxy came.
for chain in FORWARD OUTPUT; do
	iptables --append "$chain" --destination "$SERVICES" --jump REJECT
done
