package kubeadm

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// onDisk are the manifests of a control plane node at v1.35.4 that joined.
func onDisk(t *testing.T) map[string][]byte {
	t.Helper()
	manifests := map[string][]byte{}
	for _, component := range Components() {
		text, err := os.ReadFile(filepath.Join("testdata", "manifests", component+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		manifests[component] = text
	}
	return manifests
}

func replaced(manifests map[string][]byte, component string, pairs ...string) map[string][]byte {
	changed := maps.Clone(manifests)
	changed[component] = []byte(strings.NewReplacer(pairs...).Replace(string(manifests[component])))
	return changed
}

func TestEtcdIsNeverDowngraded(t *testing.T) {
	disk := onDisk(t)
	for tag, stays := range map[string]bool{"3.6.5-0": true, "3.5.24-0": true, "3.6.8-0": false, "3.10.0-0": false, "3.6.6-1": false} {
		joined, err := Join(disk, replaced(disk, Etcd, "etcd:3.6.6-0", "etcd:"+tag))
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.Equal(joined[Etcd], disk[Etcd]); got != stays {
			t.Errorf("etcd 3.6.6 to %s: the manifest stays: %t, want %t", tag, got, stays)
		}
	}
}

func TestEquivalentManifestStaysByteForByte(t *testing.T) {
	disk := onDisk(t)
	disk[Scheduler] = append([]byte("# a comment\n"), disk[Scheduler]...)
	joined, err := Join(disk, onDisk(t))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(joined[Scheduler], disk[Scheduler]) {
		t.Error("the scheduler would restart without a change")
	}
}

func TestMissingManifestIsRefused(t *testing.T) {
	disk := onDisk(t)
	delete(disk, Scheduler)
	_, err := Join(disk, onDisk(t))
	expect(t, err, refitv1alpha1.FailureManualIntervention, "ManifestMissing")
	disk[Scheduler] = []byte("not: [a pod")
	_, err = Join(disk, onDisk(t))
	expect(t, err, refitv1alpha1.FailureManualIntervention, "ManifestBroken")
}
