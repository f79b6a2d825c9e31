package builder

import (
	"slices"
	"strings"
	"testing"

	"github.com/refit-dev/refit/test/testbed/versions"
)

func TestTableIsComparedWithKubeadm(t *testing.T) {
	release, err := versions.Lookup("v1.36.3")
	if err != nil {
		t.Fatal(err)
	}
	wanted := release.KubeadmImages()
	slices.Reverse(wanted)
	if err := compareImages(release, wanted); err != nil {
		t.Errorf("the order matters: %v", err)
	}
	wanted[0] = "registry.k8s.io/etcd:9.9.9-0"
	err = compareImages(release, wanted)
	if err == nil {
		t.Fatal("want an error for a wrong row")
	}
	for _, word := range []string{"v1.36.3", "etcd:9.9.9-0", "etcd:3.6.8-0"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not name %s", err, word)
		}
	}
}

func TestInstalledVersionOmitsTheEpoch(t *testing.T) {
	list := "bash\t5.2.15-2+b7\nbusybox-static\t1:1.35.0-4+deb12u1+b1\n"
	if got := installedVersion(list, "busybox-static"); got != "1.35.0-4+deb12u1+b1" {
		t.Errorf("got %q", got)
	}
	if got := installedVersion(list, "busybox"); got != "" {
		t.Errorf("found %q of a package that is not installed", got)
	}
}
