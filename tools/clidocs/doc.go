// Command clidocs writes docs/reference/cli.md from the help of refit and refit-agent. It builds
// both, lists their commands with cobra's own completion, and reads the help of each command.
//
//	go run ./tools/clidocs -to docs/reference/cli.md
package main
