package builder

import (
	"os"
	"testing"

	"github.com/refit-dev/refit/test/testbed/versions"
)

// With both entries present, nothing is built: no images, packages or CoreDNS.
func TestBinariesBuildsNothingElse(t *testing.T) {
	b, said := testBuilder(t)
	version := versions.Kubernetes()[0]
	parts, err := b.parts(t.Context(), version)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []recipe{parts.kubernetes, parts.etcd} {
		if err := os.MkdirAll(b.bin(r), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	found, err := b.Binaries(t.Context(), version)
	if err != nil {
		t.Fatal(err)
	}
	if want := (Binaries{Bin: b.bin(parts.kubernetes), EtcdBin: b.bin(parts.etcd)}); found != want {
		t.Errorf("got %+v, want %+v", found, want)
	}
	if said.String() != "" {
		t.Errorf("unexpected build:\n%s", said)
	}
}
