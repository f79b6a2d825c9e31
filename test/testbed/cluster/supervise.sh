#!/bin/sh
# Runs a node: supervise.sh CABLE GROUP NSPAWN-ARGUMENT...
# systemd-nspawn ends with 133 when the node reboots itself, and leaves it to us to boot it again.
# GROUP is the node's cgroup if the machine has only cgroup v2, and else empty. systemd-nspawn divides
# the cgroup that it is in, which must then be its own: each boot gets one.
cable=$1
group=$2
shift 2
boot=0
while :; do
	boot=$((boot + 1))
	(
		if [ -n "$group" ]; then
			mkdir "$group/boot-$boot" && sh -c 'echo "$PPID"' >"$group/boot-$boot/cgroup.procs" || exit 1
		fi
		exec systemd-nspawn "$@"
	)
	code=$?
	[ "$code" -eq 133 ] || exit "$code"
	# Connections of the last boot may still hold the cable.
	ip link delete "$cable" 2>/dev/null
done
