package etcdbackup

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestOnlyTheOwnObjectsOfABackupAreExpected(t *testing.T) {
	const uid, digest = "0a1b2c3d-0000-4000-8000-00000000000a", "sha256:abc"
	stored := func() *refitv1alpha1.EtcdBackup {
		b := &refitv1alpha1.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Name: "nightly", UID: uid}}
		b.Status.Attempt, b.Status.Digest, b.Status.ReadBack = 2, digest, &metav1.Time{}
		b.Status.Revision, b.Status.Size, b.Status.Object = 41, 512, "prod/"+uid+"/2/manifest-abc.json"
		return b
	}
	store := &refitv1alpha1.BackupStoreSpec{Prefix: "prod"}
	got, err := Expect(stored(), store, "cluster")
	if err != nil || got.ID.UID != uid || got.ID.Attempt != 2 || got.ClusterUID != "cluster" || got.ManifestDigest != digest || got.Revision != 41 || got.Size != 512 {
		t.Errorf("got %+v, %v", got, err)
	}
	for situation, c := range map[string]struct {
		change func(*refitv1alpha1.EtcdBackup)
		want   string
	}{
		"it failed":                        {func(b *refitv1alpha1.EtcdBackup) { b.Status.ReadBack = nil }, "has not succeeded"},
		"it has no digest":                 {func(b *refitv1alpha1.EtcdBackup) { b.Status.Digest = "" }, "has not succeeded"},
		"its object is that of another":    {func(b *refitv1alpha1.EtcdBackup) { b.Status.Object = "prod/other/1/manifest-abc.json" }, "belongs to something else"},
		"its object is in another prefix":  {func(b *refitv1alpha1.EtcdBackup) { b.Status.Object = uid + "/2/manifest-abc.json" }, "the prefix of the BackupStore has changed"},
		"its object is of another attempt": {func(b *refitv1alpha1.EtcdBackup) { b.Status.Attempt = 1 }, "belongs to something else"},
	} {
		b := stored()
		c.change(b)
		if _, err := Expect(b, store, "cluster"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", situation, err)
		}
	}
	if _, err := Expect(stored(), store, ""); err == nil {
		t.Error("a cluster without UID is accepted")
	}
}
