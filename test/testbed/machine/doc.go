// Package machine changes the Linux machine that runs the testbed: cgroups, mounts, loop disks,
// links, sysctls and processes. Everything that it creates is marked, so that it can be found and
// removed without a record of it.
package machine
