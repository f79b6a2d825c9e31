package restore

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/engine/durable"
)

func TestManifestsKeepTheirAttributesThroughARestore(t *testing.T) {
	m := newBed(t, "cp-1").hosts["cp-1"]
	before := map[string]durable.Attributes{}
	for _, component := range []string{"etcd", "kube-apiserver"} {
		path := m.path("manifests", component+".yaml")
		must(t, os.Chmod(path, 0o640))
		if err := unix.Setxattr(path, "user.origin", []byte(component), 0); !errors.Is(err, unix.ENOTSUP) {
			must(t, err)
		}
		found, err := durable.AttributesOf(path)
		must(t, err)
		before[path] = found
	}
	_, _, err := m.restore(t, Request{}, "")
	must(t, err)
	for path, want := range before {
		got, err := durable.AttributesOf(path)
		must(t, err)
		if missing := want.Missing(got); len(missing) > 0 {
			t.Errorf("%s lacks %v", path, missing)
		}
	}
}
