package restore

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/restore"
)

// hostFiles are the files of cp-1 in a backup.
func hostFiles(t *testing.T) map[string]string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now.AddDate(-1, 0, 0), NotAfter: now.AddDate(9, 0, 0), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(t, err)
	return map[string]string{
		hostCA[1:]:                           string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		"etc/kubernetes/pki/ca.key":          "secret",
		"etc/kubernetes/admin.conf":          "of cp-1",
		"etc/kubernetes/manifests/etcd.yaml": etcdManifest("cp-1", "/var/lib/etcd"),
	}
}

// storeFiles replaces the backup by one with files of a host.
func (b *bed) storeFiles(t *testing.T, files map[string]string) {
	t.Helper()
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for name, text := range files {
		must(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o640, Uid: os.Getuid(), Gid: os.Getgid(), Size: int64(len(text))}))
		_, err := io.WriteString(w, text)
		must(t, err)
	}
	must(t, w.Close())
	must(t, os.RemoveAll(b.dir))
	must(t, os.Mkdir(b.dir, 0o700))
	part := func(name string, content []byte) enginebackup.Source {
		return enginebackup.Source{Part: name, Write: func(_ context.Context, to enginebackup.Sink) error {
			_, err := to.Write(content)
			return err
		}}
	}
	var err error
	b.stored, err = enginebackup.Store(t.Context(), b.target(t), enginebackup.Request{
		ID: backup.ID{UID: backupUID, Attempt: 1}, ClusterUID: clusterUID, Time: now.Add(-1e9), EtcdVersion: "3.6.6",
		Recipients: []string{b.identity.Recipient().String()}, Revision: func() int64 { return 3 },
		Sources: []enginebackup.Source{part(backup.PartEtcd, snapshot(t, []string{"cp-1"})), part(backup.PartHost, archive.Bytes())},
	})
	must(t, err)
}

func (m *machine) files(t *testing.T, name string, overwrite ...string) (*FileRestore, error) {
	t.Helper()
	desk := m.desk(t, "")
	desk.Root, desk.HostName, desk.CA = m.path("root"), name, m.path("root", hostCA)
	return desk.PrepareFiles(t.Context(), Request{Identities: []age.Identity{m.bed.identity}}, overwrite)
}

func TestLostFilesOfAHostAreWritten(t *testing.T) {
	b := newBed(t, "cp-1")
	m, files := b.hosts["cp-1"], hostFiles(t)
	b.storeFiles(t, files)
	f, err := m.files(t, "cp-1")
	must(t, err)
	if len(f.Refusals) > 0 || f.Writes() != len(files) || exists(m.path("root")) {
		t.Fatalf("%+v", f)
	}
	must(t, f.Write())
	for name, text := range files {
		path := m.path("root", name)
		got, err := os.ReadFile(path)
		must(t, err)
		info, err := os.Stat(path)
		must(t, err)
		if string(got) != text || info.Mode() != 0o640 {
			t.Errorf("%s: %q, mode %s", name, got, info.Mode())
		}
	}

	must(t, os.WriteFile(m.path("root/etc/kubernetes/admin.conf"), []byte("renewed"), 0o600))
	must(t, os.Remove(m.path("root/etc/kubernetes/pki/ca.key")))
	if f, err = m.files(t, "cp-1"); err != nil || f.Writes() != 1 {
		t.Fatalf("%v %+v", err, f)
	}
	var text strings.Builder
	f.Print(&text)
	for _, line := range []string{"Missing  write  /etc/kubernetes/pki/ca.key", "Differs  keep   /etc/kubernetes/admin.conf", "2 files unchanged"} {
		if !strings.Contains(text.String(), line) {
			t.Errorf("%q is missing in\n%s", line, text.String())
		}
	}
	if f, err = m.files(t, "cp-1", "/etc/kubernetes/admin.conf"); err != nil || f.Writes() != 2 {
		t.Errorf("%v %+v", err, f)
	}
}

func TestFilesOfAnotherHostOrClusterAreNotWritten(t *testing.T) {
	b := newBed(t, "cp-1")
	m := b.hosts["cp-1"]
	b.storeFiles(t, hostFiles(t))
	if f, err := m.files(t, "cp-2"); err != nil || f.From != "cp-1" || f.Writes() != 2 {
		t.Errorf("%v %+v", err, f)
	}
	must(t, os.MkdirAll(filepath.Dir(m.path("root", hostCA)), 0o700))
	must(t, os.WriteFile(m.path("root", hostCA), []byte(hostFiles(t)[hostCA[1:]]), 0o600))
	if f, err := m.files(t, "cp-1"); err != nil || len(f.Refusals) != 1 || f.Refusals[0].Reason != "OtherCluster" {
		t.Errorf("%v %+v", err, f)
	}
}

func TestArchiveNeverWritesOutsideOfItsRoot(t *testing.T) {
	b := newBed(t, "cp-1")
	files := hostFiles(t)
	files["etc/../../escaped"] = "x"
	b.storeFiles(t, files)
	if f, err := b.hosts["cp-1"].files(t, "cp-1"); err == nil {
		t.Errorf("%+v", f)
	}
}

// Agents of former versions stored archives of any size.
func TestLargeFilesOfAHostDoNotKeepTheDataFromBeingRestored(t *testing.T) {
	b := newBed(t, "cp-1")
	files := hostFiles(t)
	files["etc/kubernetes/large"] = string(make([]byte, backup.MaxHostFiles))
	b.storeFiles(t, files)
	if _, _, err := b.hosts["cp-1"].restore(t, Request{}, ""); err != nil {
		t.Errorf("the backup cannot be restored: %v", err)
	}
}

// The manifests that a restore has moved away are not lost.
func TestFilesAreNotWrittenDuringARestore(t *testing.T) {
	b := newBed(t, "cp-1")
	m := b.hosts["cp-1"]
	if _, died, err := m.restore(t, Request{}, "restore-"+restore.MoveData+"/started"); err != nil || !died {
		t.Fatalf("%t %v", died, err)
	}
	if f, err := m.files(t, "cp-1"); err == nil {
		t.Errorf("%+v", f)
	}
}
