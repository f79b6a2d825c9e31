#!/bin/sh
# Runs a node: supervise.sh CABLE NSPAWN-ARGUMENT...
# systemd-nspawn ends with 133 when the node reboots itself, and leaves it to us to boot it again.
cable=$1
shift
while :; do
	systemd-nspawn "$@"
	code=$?
	[ "$code" -eq 133 ] || exit "$code"
	# Connections of the last boot may still hold the cable.
	ip link delete "$cable" 2>/dev/null
done
