package main

import (
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/engine/backup/seal"
	"github.com/refit-dev/refit/internal/engine/backup/store"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
)

const storedUID = "0a1b2c3d-0000-4000-8000-00000000000a"

// vault is a cluster with the stored backup "nightly".
type vault struct {
	*site
	dir, identity, recipient string
}

func newVault(t *testing.T) *vault {
	t.Helper()
	text, recipient, err := seal.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	v := &vault{site: newSite(t), dir: t.TempDir(), identity: filepath.Join(t.TempDir(), "refit-backup.key"), recipient: recipient}
	write(t, v.identity, text)
	const clusterUID = "11111111-2222-4333-8444-555555555555"
	taken := &refitv1alpha1.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Name: "nightly", UID: storedUID}, Spec: refitv1alpha1.EtcdBackupSpec{Store: "local"}}
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system", UID: clusterUID}},
		&refitv1alpha1.BackupStore{ObjectMeta: metav1.ObjectMeta{Name: "local"}, Spec: refitv1alpha1.BackupStoreSpec{
			Path: &refitv1alpha1.PathStore{Directory: "/var/lib/refit-backups"}, Recipients: []string{recipient}, Keep: &refitv1alpha1.BackupRetention{Last: 1},
		}},
		taken,
	} {
		if err := v.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	stored := v.store(t, storedUID, clusterUID, clustertest.Now)
	at := metav1.NewTime(clustertest.Now)
	taken.Status.Node, taken.Status.Attempt, taken.Status.ReadBack, taken.Status.Digest = "cp-2", 1, &at, stored.Digest
	taken.Status.Object = backup.Key("", stored.Manifest.ID(), backup.ManifestName(stored.Digest))
	if err := v.Status().Update(t.Context(), taken); err != nil {
		t.Fatal(err)
	}
	return v
}

// store stores a backup.
func (v *vault) store(t *testing.T, uid, clusterUID string, at time.Time) enginebackup.Stored {
	t.Helper()
	opened, err := store.OpenPath(v.dir)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := enginebackup.Store(t.Context(), enginebackup.Target{Store: opened}, enginebackup.Request{
		ID: backup.ID{UID: uid, Attempt: 1}, ClusterUID: clusterUID, Time: at, EtcdVersion: "3.6.6", Recipients: []string{v.recipient},
		Sources: []enginebackup.Source{{Part: backup.PartEtcd, Write: func(_ context.Context, to enginebackup.Sink) error {
			_, err := io.WriteString(to, strings.Repeat("etcd", 100))
			return err
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

// flat is the output in one line.
func flat(v *vault) string { return strings.Join(strings.Fields(v.out.String()), " ") }

func TestBackupVerify(t *testing.T) {
	v := newVault(t)
	if code := v.refit(t, "backup", "verify", "nightly", "--path", v.dir, "--identity", v.identity); code != 0 || !strings.Contains(flat(v), "decrypts every part") {
		t.Errorf("exit code %d: %s%s", code, v.out, v.err)
	}
	local := &refitv1alpha1.BackupStore{}
	if err := v.Get(t.Context(), client.ObjectKey{Name: "local"}, local); err != nil || !meta.IsStatusConditionTrue(local.Status.Conditions, "IdentityProven") {
		t.Errorf("the identity is not recorded: %+v, %v", local.Status, err)
	}
	v.out.Reset()
	var got cliv1alpha1.BackupVerification
	if code := v.refit(t, "backup", "verify", "nightly", "--path", v.dir, "-o", "json"); code != 0 || json.Unmarshal(v.out.Bytes(), &got) != nil ||
		got.Kind != "BackupVerification" || got.Decrypted || got.Digest == "" || got.Object == "" {
		t.Errorf("exit code %d: %s%s", code, v.out, v.err)
	}
	v.out.Reset()
	for args, want := range map[string]struct {
		code int
		err  string
	}{
		"nightly":                               {1, "Run `refit-agent backup verify nightly` on cp-2 as root"},
		"other":                                 {1, "there is no EtcdBackup other"},
		"":                                      {2, "name one backup"},
		"nightly --path " + t.TempDir():         {1, "nightly is not verified"},
		"nightly --identity " + v.dir + "/none": {1, "cannot read the identity"},
	} {
		v.err.Reset()
		if code := v.refit(t, append([]string{"backup", "verify"}, strings.Fields(args)...)...); code != want.code || !strings.Contains(v.err.String(), want.err) || v.out.Len() > 0 {
			t.Errorf("%q: exit code %d: %s%s", args, code, v.out, v.err)
		}
	}
}

func TestBackupPrune(t *testing.T) {
	v := newVault(t)
	v.store(t, "0a1b2c3d-0000-4000-8000-00000000000b", "11111111-2222-4333-8444-555555555555", clustertest.Now.Add(-48*time.Hour))
	if code := v.refit(t, "backup", "prune", "--store", "local", "--path", v.dir, "--dry-run"); code != 0 || !strings.Contains(v.out.String(), "1 attempt to delete") {
		t.Errorf("exit code %d: %s%s", code, v.out, v.err)
	}
	if code := v.refit(t, "backup", "prune", "--store", "local", "--path", v.dir); code != 2 || !strings.Contains(v.err.String(), "use --yes") {
		t.Errorf("without a terminal: exit code %d: %s", code, v.err)
	}
	v.out.Reset()
	var got cliv1alpha1.BackupPruning
	if code := v.refit(t, "backup", "prune", "--store", "local", "--path", v.dir, "--yes", "-o", "json"); code != 0 || json.Unmarshal(v.out.Bytes(), &got) != nil ||
		got.Kind != "BackupPruning" || got.Deleted() != 1 || got.Stores[0].Kept != 1 {
		t.Errorf("exit code %d: %s%s", code, v.out, v.err)
	}
	v.out.Reset()
	if code := v.refit(t, "backup", "prune", "--yes"); code != 0 || !strings.Contains(flat(v), "refit-agent backup prune local") {
		t.Errorf("all stores: exit code %d: %s%s", code, v.out, v.err)
	}
	for args, want := range map[string]struct {
		code int
		err  string
	}{
		"--path " + v.dir:         {2, "name it with --store"},
		"--store local --yes":     {1, "`refit-agent backup prune local` on cp-2 as root"},
		"--store elsewhere --yes": {1, "there is no BackupStore elsewhere"},
		"--store local extra":     {2, "unexpected argument"},
	} {
		v.err.Reset()
		if code := v.refit(t, append([]string{"backup", "prune"}, strings.Fields(args)...)...); code != want.code || !strings.Contains(v.err.String(), want.err) {
			t.Errorf("%q: exit code %d: %s", args, code, v.err)
		}
	}
}
