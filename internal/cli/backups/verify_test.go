package backups

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// verify verifies "nightly" with the identities of a file, or without one.
func (b *bed) verify(t *testing.T, identities string) (*cliv1alpha1.BackupVerification, error) {
	t.Helper()
	v := &Verifier{Access: Access{Path: b.dir}, ReadFile: os.ReadFile, Now: func() time.Time { return testNow }, Report: func(int64, int64) {}}
	if identities != "" {
		v.Identity = filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(v.Identity, []byte(identities), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.Read(); err != nil {
		return nil, err
	}
	return v.Verify(t.Context(), b, "prod", "nightly")
}

func TestAStoredBackupIsVerified(t *testing.T) {
	b := newBed(t)
	other := newIdentity(t)
	for situation, c := range map[string]struct {
		identities string
		recipients []string
	}{
		"without identity":     {"", nil},
		"with its identity":    {b.identity.String(), b.store.Spec.Recipients},
		"with several of them": {"# keys\n" + other.String() + "\n" + b.identity.String() + "\n", b.store.Spec.Recipients},
	} {
		got, err := b.verify(t, c.identities)
		if err != nil || got.Decrypted != (c.identities != "") || !slices.Equal(got.Recipients, c.recipients) || len(got.Parts) != 2 || got.Digest == "" {
			t.Errorf("%s: %+v, %v", situation, got, err)
		}
	}
}

func TestTheProgressCountsEveryByte(t *testing.T) {
	b := newBed(t)
	var done, total int64
	v := &Verifier{Access: Access{Path: b.dir}, Now: func() time.Time { return testNow }, Report: func(d, of int64) { done, total = d, of }}
	if _, err := v.Verify(t.Context(), b, "prod", "nightly"); err != nil || done != total || total == 0 {
		t.Errorf("%d of %d bytes, %v", done, total, err)
	}
}

// Retention marks a backup first. Its objects stay after an error, and if it is the last good one.
func TestAMarkedBackupWithAllObjectsIsVerified(t *testing.T) {
	b := newBed(t)
	b.backups["nightly"].Status.Deleted = &metav1.Time{Time: testNow}
	v := &Verifier{Access: Access{Path: b.dir}, Now: time.Now, Report: func(int64, int64) {}}
	if got, err := v.Verify(t.Context(), b, "prod", "nightly"); err != nil || !got.Deleted.Equal(testNow) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := v.Verify(t.Context(), b, "prod", "earlier"); err != nil || !got.Deleted.IsZero() {
		t.Errorf("one that is not marked: %+v, %v", got, err)
	}
	if err := os.Remove(b.path(nightlyUID, backup.PartHost)); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Verify(t.Context(), b, "prod", "nightly"); err == nil || !strings.Contains(err.Error(), "retention deleted nightly") {
		t.Errorf("without a part: %v", err)
	}
}

// A writer of the bucket can write everything but what the cluster records.
func TestAForgedBackupIsNeverVerified(t *testing.T) {
	flip := func(text []byte) []byte { text[len(text)/2] ^= 1; return text }
	for situation, forge := range map[string]func(t *testing.T, b *bed){
		"a bit of etcd": func(t *testing.T, b *bed) { t.Helper(); rewrite(t, b.path(nightlyUID, backup.PartEtcd), flip) },
		"a bit of the host's files": func(t *testing.T, b *bed) {
			t.Helper()
			rewrite(t, b.path(nightlyUID, backup.PartHost), flip)
		},
		"a bit of the manifest": func(t *testing.T, b *bed) { t.Helper(); rewrite(t, b.manifest("nightly"), flip) },
		"truncated": func(t *testing.T, b *bed) {
			t.Helper()
			rewrite(t, b.path(nightlyUID, backup.PartEtcd), func(text []byte) []byte { return text[:len(text)-1] })
		},
		"longer": func(t *testing.T, b *bed) {
			t.Helper()
			rewrite(t, b.path(nightlyUID, backup.PartEtcd), func(text []byte) []byte { return append(text, 0) })
		},
		"parts of an earlier one": func(t *testing.T, b *bed) {
			t.Helper()
			other, err := os.ReadFile(b.path(earlierUID, backup.PartEtcd))
			if err != nil {
				t.Fatal(err)
			}
			rewrite(t, b.path(nightlyUID, backup.PartEtcd), func([]byte) []byte { return other })
		},
		"no manifest": func(t *testing.T, b *bed) {
			t.Helper()
			if err := os.Remove(b.manifest("nightly")); err != nil {
				t.Fatal(err)
			}
		},
		"a manifest that lies": func(t *testing.T, b *bed) {
			t.Helper()
			text, err := os.ReadFile(b.manifest("nightly"))
			if err != nil {
				t.Fatal(err)
			}
			lie := bytes.Replace(text, []byte(`"revision": 41`), []byte(`"revision": 99`), 1)
			if err := os.Remove(b.manifest("nightly")); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(b.path(nightlyUID, backup.ManifestName(backup.Digest(lie))), lie, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"the status has another object": func(_ *testing.T, b *bed) {
			b.backups["nightly"].Status.Object = b.backups["earlier"].Status.Object
		},
		"the status has the digest of another": func(_ *testing.T, b *bed) {
			b.backups["nightly"].Status.Digest = b.backups["earlier"].Status.Digest
			b.backups["nightly"].Status.Object = ""
		},
		"the status has another revision": func(_ *testing.T, b *bed) { b.backups["nightly"].Status.Revision = 42 },
		"the status has another size":     func(_ *testing.T, b *bed) { b.backups["nightly"].Status.Size++ },
		"it is of another cluster":        func(_ *testing.T, b *bed) { b.clusterUID = "11111111-2222-4333-8444-666666666666" },
		"it has not succeeded":            func(_ *testing.T, b *bed) { b.backups["nightly"].Status.ReadBack = nil },
	} {
		t.Run(situation, func(t *testing.T) {
			for _, decrypts := range []bool{false, true} {
				b := newBed(t)
				forge(t, b)
				identity := ""
				if decrypts {
					identity = b.identity.String()
				}
				if got, err := b.verify(t, identity); err == nil || got != nil {
					t.Errorf("decrypts %t: it is verified: %+v", decrypts, got)
				}
			}
		})
	}
}

func TestOnlyTheIdentityOfARecipientVerifies(t *testing.T) {
	b := newBed(t)
	for situation, c := range map[string]struct{ identities, want string }{
		"that of another":        {newIdentity(t).String(), "Use an identity of one of its recipients"},
		"protected":              {"-----BEGIN AGE ENCRYPTED FILE-----\n", "protected by a passphrase"},
		"a recipient":            {b.identity.Recipient().String(), "it is a recipient"},
		"a file without any":     {"# nothing\n", "there is no age identity"},
		"a broken line in front": {"AGE-SECRET-KEY-1QQ\n" + b.identity.String(), "line 1"},
	} {
		if got, err := b.verify(t, c.identities); err == nil || got != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v", situation, got, err)
		}
	}
}

func TestADirectoryOfHostsIsVerifiedThere(t *testing.T) {
	b := newBed(t)
	v := &Verifier{Identity: "refit.key", Now: time.Now}
	_, err := v.Verify(t.Context(), b, "prod", "nightly")
	if err == nil || !strings.Contains(err.Error(), "Run `refit-agent backup verify nightly --identity FILE` on cp-2 as root") {
		t.Errorf("got %v", err)
	}
}

// A wrong directory is no reason to distrust the backup.
func TestADirectoryWithoutTheBackupIsQuestioned(t *testing.T) {
	b := newBed(t)
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "missing")} {
		v := &Verifier{Access: Access{Path: dir}, Now: time.Now}
		_, err := v.Verify(t.Context(), b, "prod", "nightly")
		if err == nil || !strings.Contains(err.Error(), "Check that --path is the directory") {
			t.Errorf("got %v", err)
		}
	}
}

func TestABucketIsOpenedWithItsOwnSecretOnly(t *testing.T) {
	b := newBed(t)
	b.store.Spec.Path, b.store.Spec.Credentials = nil, "offsite"
	b.store.Spec.S3 = &refitv1alpha1.S3Store{Endpoint: "https://s3.invalid", Bucket: "backups"}
	verify := func(path string) error {
		v := &Verifier{Access: Access{Path: path}, Now: time.Now}
		_, err := v.Verify(t.Context(), b, "prod", "nightly")
		return err
	}
	if err := verify(b.dir); err == nil || !strings.Contains(err.Error(), "--path is for directories") {
		t.Errorf("a path for a bucket: %v", err)
	}
	if err := verify(""); err == nil || !strings.Contains(err.Error(), "there is no Secret offsite") {
		t.Errorf("no Secret: %v", err)
	}
	b.secrets = map[string]*corev1.Secret{"offsite": {ObjectMeta: metav1.ObjectMeta{Namespace: refitv1alpha1.BackupNamespace, Name: "offsite"}, Type: "Opaque"}}
	if err := verify(""); err == nil || !strings.Contains(err.Error(), "--type="+refitv1alpha1.BackupCredentialsType) {
		t.Errorf("another Secret: %v", err)
	}
}

func TestADecryptedBackupProvesTheIdentity(t *testing.T) {
	b := newBed(t)
	if got, err := b.verify(t, ""); err != nil || got.IdentityProven || b.store.Status.Proven != nil {
		t.Errorf("without identity: %+v, %v", got, err)
	}
	if got, err := b.verify(t, newIdentity(t).String()); err == nil || b.store.Status.Proven != nil {
		t.Errorf("another identity: %+v, %v", got, err)
	}
	b.denied = errors.New("forbidden")
	if got, err := b.verify(t, b.identity.String()); err != nil || got.IdentityProven || !got.Decrypted || got.NotRecorded != "forbidden" {
		t.Errorf("without permission: %+v, %v", got, err)
	}
	b.denied = nil
	if got, err := b.verify(t, newIdentity(t).String()+"\n"+b.identity.String()); err != nil || !got.IdentityProven ||
		!slices.Equal(b.store.Status.Proven.Recipients, []string{b.identity.Recipient().String()}) {
		t.Errorf("with its identity: %+v, %v", got, err)
	}
	b.store.Status.Proven, b.store.Spec.Recipients = nil, []string{newIdentity(t).Recipient().String()}
	if got, err := b.verify(t, b.identity.String()); err != nil || got.IdentityProven || !strings.Contains(got.NotRecorded, "not that of a recipient") {
		t.Errorf("after the recipients have changed: %+v, %v", got, err)
	}
}
