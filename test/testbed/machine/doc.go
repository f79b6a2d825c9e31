// Package machine touches the Linux machine that carries the testbed: cgroups,
// mounts, loop disks, links, sysctls and processes. Everything that it makes
// carries the testbed's mark, so that it can be found and removed without a
// record of it.
package machine
