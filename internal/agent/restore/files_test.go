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
	"slices"
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

// apiServer is a manifest whose flag names a file.
func apiServer(file string) string {
	dir := filepath.Dir(file)
	return `apiVersion: v1
kind: Pod
metadata: {name: kube-apiserver, namespace: kube-system}
spec:
  containers:
  - name: kube-apiserver
    image: registry.k8s.io/kube-apiserver:v1.36.3
    command: [kube-apiserver, --encryption-provider-config=` + file + `]
    volumeMounts: [{name: enc, mountPath: ` + dir + `}]
  volumes: [{name: enc, hostPath: {path: ` + dir + `}}]
`
}

// Without a digest, the backup may be forged: its files run as root, and so does what they replace.
func TestOnlyFilesThatRefitBacksUpAreWritten(t *testing.T) {
	const enc, server = "srv/encryption/config.yaml", "etc/kubernetes/manifests/kube-apiserver.yaml"
	base := []string{"etc/kubernetes/admin.conf", "etc/kubernetes/manifests/etcd.yaml", "etc/kubernetes/pki/ca.crt", "etc/kubernetes/pki/ca.key", server}
	for situation, test := range map[string]struct {
		recorded bool
		host     string // the flag of the API server on the host; empty if its manifest is lost
		link     string // a directory that is a symlink to srv/elsewhere
		written  []string
	}{
		"a recorded backup":                    {true, "", "", append(slices.Clone(base), enc)},
		"no digest":                            {false, "", "", base},
		"no digest, and the host has the flag": {false, enc, "", append(slices.Clone(base[:4]), enc)},
		"a symlink that leads elsewhere":       {true, "", "etc/kubernetes/pki", append(slices.Clone(base[:2]), server, enc)},
		"the whole directory is elsewhere":     {true, "", "etc/kubernetes", append(slices.Clone(base), enc)},
		"so is that of a flag":                 {true, "", "srv/encryption", append(slices.Clone(base), enc)},
	} {
		t.Run(situation, func(t *testing.T) {
			b := newBed(t, "cp-1")
			m, files := b.hosts["cp-1"], hostFiles(t)
			files[enc], files[server] = "aescbc", apiServer("/"+enc)
			for _, foreign := range []string{"root/.ssh/authorized_keys", "etc/cron.d/evil", "etc/kubernetes-evil", "etc/kubernetes/tmp/x", "var/lib/kubelet/pki/x", "srv/encryption-evil"} {
				files[foreign] = "evil"
			}
			b.storeFiles(t, files)
			if test.host != "" {
				must(t, os.MkdirAll(filepath.Dir(m.path("root", server)), 0o700))
				must(t, os.WriteFile(m.path("root", server), []byte(apiServer("/"+test.host)), 0o600))
			}
			if test.link != "" {
				must(t, os.MkdirAll(m.path("root/srv/elsewhere"), 0o700))
				must(t, os.MkdirAll(filepath.Dir(m.path("root", test.link)), 0o700))
				must(t, os.Symlink(m.path("root/srv/elsewhere"), m.path("root", test.link)))
			}
			desk, request := m.desk(t, ""), Request{Identities: []age.Identity{b.identity}, Backup: backupUID + "/1", Waived: []string{restore.DigestUnknown}}
			desk.Root, desk.HostName, desk.CA = m.path("root"), "cp-1", m.path("root", hostCA)
			if !test.recorded {
				desk.Records.Backups = nil
			}
			f, err := desk.PrepareFiles(t.Context(), request, nil)
			must(t, err)
			var written []string
			for _, c := range f.Changes {
				if c.Write {
					written = append(written, c.Path[1:])
				}
			}
			slices.Sort(written)
			slices.Sort(test.written)
			if len(f.Refusals) > 0 || !slices.Equal(written, test.written) {
				t.Fatalf("%+v, written %q, want %q", f.Refusals, written, test.written)
			}
			must(t, f.Write())
		})
	}
}

// A symlink can appear between the output and the confirmation.
func TestSymlinksAreNotFollowedOutOfTheFiles(t *testing.T) {
	b := newBed(t, "cp-1")
	m := b.hosts["cp-1"]
	b.storeFiles(t, hostFiles(t))
	f, err := m.files(t, "cp-1")
	must(t, err)
	must(t, os.MkdirAll(m.path("root/etc/kubernetes"), 0o700))
	must(t, os.Symlink(t.TempDir(), m.path("root/etc/kubernetes/pki")))
	if err := f.Write(); err == nil || exists(m.path("root/etc/kubernetes/pki/ca.key")) {
		t.Errorf("written through a symlink: %v", err)
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
