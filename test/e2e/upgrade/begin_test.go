//go:build e2e

package upgrade

// waiveBare is bareMayEnd as command-line flags.
var waiveBare = []string{"--waive", bareMayEnd.Check + "/" + bareMayEnd.Object + "=" + bareMayEnd.Reason}
