package text_test

import (
	"testing"

	"github.com/refit-dev/refit/internal/cli/text"
)

func TestWithoutACodeTheScreenDoesNotMentionOne(t *testing.T) {
	const want = "Serving prod at https://refit.example:8443/\nCertificate: SHA-256 AA:BB\nState:       /var/lib/refit\n\nPress Ctrl-C to stop the server.\n"
	got := text.Serving(text.Server{Cluster: "prod", URL: "https://refit.example:8443/", Fingerprint: "AA:BB", Directory: "/var/lib/refit"})
	if got != want {
		t.Errorf("the screen is\n%s\nwant\n%s", got, want)
	}
}
