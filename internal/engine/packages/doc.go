// Package packages installs packages on a host: find the package that owns a file, keep the
// installed versions for a rollback, install, configure after an interruption, verify. It runs
// scripts of the packages that it installs, never those of others.
package packages
