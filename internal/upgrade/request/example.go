package request

import (
	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// ExampleTarget is a version that a cluster can be upgraded to: of the next minor version, or the
// newest patch release of its own. It is empty if Refit supports none, and the newest that Refit
// supports for a cluster whose version is unknown.
func ExampleTarget(from string) string {
	at, err := skew.Parse(from)
	example := ""
	for _, minor := range kubefacts.Supported() {
		facts, _ := kubefacts.For(minor) // it is supported
		v, parseErr := skew.Parse(facts.Version)
		if parseErr != nil || (err == nil && (!at.Before(v) || at.MinorsBehind(v) > 1)) {
			continue
		}
		example = facts.Version
	}
	return example
}
