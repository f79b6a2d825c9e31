package apiserver

import (
	"os"
	"strings"
	"testing"

	"github.com/refit-dev/refit/test/testbed/versions"
)

// versionsVariable names the versions of a run, separated by commas.
const versionsVariable = "REFIT_APISERVERS"

// defaultVersions are those that every change is tested on.
const defaultVersions = "v1.35.4,v1.36.3"

// Versions returns the Kubernetes versions of this run: those in REFIT_APISERVERS, separated by
// commas, or else the two of CI.
func Versions(tb testing.TB) []string {
	tb.Helper()
	wanted := os.Getenv(versionsVariable)
	if wanted == "" {
		wanted = defaultVersions
	}
	var found []string
	for name := range strings.SplitSeq(wanted, ",") {
		release, err := versions.Lookup(strings.TrimSpace(name))
		if err != nil {
			tb.Fatalf("%s: %v", versionsVariable, err)
		}
		found = append(found, release.Kubernetes)
	}
	return found
}

// EachVersion runs a subtest for each version of the run, in sequence.
func EachVersion(t *testing.T, test func(t *testing.T, version string)) {
	t.Helper()
	for _, version := range Versions(t) {
		t.Run(version, func(t *testing.T) { test(t, version) })
	}
}
