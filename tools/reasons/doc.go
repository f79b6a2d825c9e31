// Command reasons writes docs/troubleshooting.md: every check, every reason for waiting, every
// reason to reject an order and every failure of a host, with its message and remedy.
//
//	go run ./tools/reasons -root . -to docs/troubleshooting.md
//
// It reads the Go source and evaluates the texts in it, so that the page has the words of the code:
//
//  1. source.go parses the packages and collects their constants.
//  2. text.go evaluates a string expression; an unknown part becomes a placeholder such as PATH.
//  3. failures.go, refusals.go, waits.go, checks.go and remedies.go collect the entries.
//  4. page.go renders the page.
package main
