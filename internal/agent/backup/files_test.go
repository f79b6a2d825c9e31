package backup

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/engine/backup/store"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

const serverManifest = `apiVersion: v1
kind: Pod
metadata: {name: kube-apiserver, namespace: kube-system, labels: {component: kube-apiserver}}
spec:
  containers:
  - name: kube-apiserver
    command: [kube-apiserver, --encryption-provider-config=/etc/enc/config.yaml, --audit-log-path=/var/log/audit.log, --client-ca-file=/etc/kubernetes/pki/ca.crt]
    volumeMounts:
    - {name: enc, mountPath: /etc/enc}
    - {name: log, mountPath: /var/log}
    - {name: pki, mountPath: /etc/kubernetes/pki}
  volumes:
  - {name: enc, hostPath: {path: /opt/encryption}}
  - {name: log, hostPath: {path: /var/log}}
  - {name: pki, hostPath: {path: /etc/kubernetes/pki}}
`

func writeTree(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A backup that no restore can read must not succeed.
func TestMoreFilesThanARestoreReadsFailTheBackup(t *testing.T) {
	root, files := t.TempDir(), map[string]string{"etc/kubernetes/manifests/kube-apiserver.yaml": serverManifest}
	files["etc/kubernetes/pki/ca.crt"], files["opt/encryption/config.yaml"] = "ca", "encryption"
	for i := range backup.MaxHostFiles / maxHostFile {
		files[fmt.Sprintf("etc/kubernetes/audit/%d.log", i)] = string(make([]byte, maxHostFile))
	}
	writeTree(t, root, files)
	if err := WriteHostFiles(io.Discard, root); err == nil || !strings.Contains(err.Error(), "more than 64 MiB") {
		t.Errorf("got %v", err)
	}
}

func TestHostFilesAreThoseOfARestore(t *testing.T) {
	root := t.TempDir()
	writeTree(t, root, map[string]string{
		"etc/kubernetes/manifests/kube-apiserver.yaml": serverManifest, "etc/kubernetes/pki/ca.key": "key", "etc/kubernetes/pki/ca.crt": "ca",
		"etc/kubernetes/admin.conf": "admin", "var/lib/kubelet/config.yaml": "kubelet", "opt/encryption/config.yaml": "encryption",
		"etc/kubernetes/tmp/kubeadm-backup-etcd/member/wal": string(make([]byte, maxHostFile+1)),
		"var/log/audit.log": "a log", "var/lib/etcd/member/db": "etcd", "srv/keys/sa.key": "sa",
	})
	if err := os.Symlink(filepath.Join(root, "srv/keys/sa.key"), filepath.Join(root, "etc/kubernetes/pki/sa.key")); err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	if err := WriteHostFiles(&archive, root); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	var names []string
	for reader := tar.NewReader(&archive); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		names, found[header.Name] = append(names, header.Name), string(text)
	}
	slices.Sort(names)
	want := []string{
		"etc/kubernetes/admin.conf", "etc/kubernetes/manifests/kube-apiserver.yaml", "etc/kubernetes/pki/ca.crt", "etc/kubernetes/pki/ca.key",
		"etc/kubernetes/pki/sa.key", "opt/encryption/config.yaml", "var/lib/kubelet/config.yaml",
	}
	if !slices.Equal(names, want) || found["etc/kubernetes/pki/sa.key"] != "sa" {
		t.Errorf("got %v, want %v", names, want)
	}
}

// A backup without a file that the API server needs would be found incomplete by its restore.
func TestFileThatAFlagNamesIsNeverLeftOut(t *testing.T) {
	for situation, hostPath := range map[string]string{
		"missing": "/opt/encryption", "in the private /tmp of the agent": "/tmp/encryption", "in the private /var/tmp": "/var/tmp/encryption",
	} {
		t.Run(situation, func(t *testing.T) {
			root := t.TempDir()
			manifest := strings.ReplaceAll(serverManifest, "/opt/encryption", hostPath)
			writeTree(t, root, map[string]string{"etc/kubernetes/manifests/kube-apiserver.yaml": manifest, "etc/kubernetes/pki/ca.crt": "ca"})
			if strings.Contains(hostPath, "tmp") { // a file of the agent, not that of the host
				writeTree(t, root, map[string]string{hostPath + "/config.yaml": "other"})
			}
			err := WriteHostFiles(io.Discard, root)
			if err == nil || !strings.Contains(err.Error(), hostPath+"/config.yaml") {
				t.Error(err)
			}
		})
	}
}

// Neither is configuration: the API server writes them.
func TestFilesThatTheAPIServerWritesAreLeftOut(t *testing.T) {
	root := t.TempDir()
	manifest := strings.ReplaceAll(serverManifest, "--encryption-provider-config=/etc/enc/config.yaml",
		"--cert-dir=/etc/enc/run, '--tls-sni-cert-key=/etc/kubernetes/pki/sni.crt,/etc/kubernetes/pki/sni.key:example.com'")
	writeTree(t, root, map[string]string{
		"etc/kubernetes/manifests/kube-apiserver.yaml": manifest, "etc/kubernetes/pki/ca.crt": "ca",
		"etc/kubernetes/pki/sni.crt": "c", "etc/kubernetes/pki/sni.key": "k",
	})
	if err := WriteHostFiles(io.Discard, root); err != nil {
		t.Error(err)
	}
}

func TestLinkToItsOwnParentEnds(t *testing.T) {
	root := t.TempDir()
	writeTree(t, root, map[string]string{
		"etc/kubernetes/manifests/kube-apiserver.yaml": serverManifest, "etc/kubernetes/pki/ca.crt": "ca", "opt/encryption/config.yaml": "encryption",
	})
	if err := os.Symlink(filepath.Join(root, "etc"), filepath.Join(root, "etc/kubernetes/loop")); err != nil {
		t.Fatal(err)
	}
	if err := WriteHostFiles(io.Discard, root); err == nil {
		t.Error("a loop of links is archived")
	}
}

func TestCredentialsOnTheHostAreProtected(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "offsite")
	writeTree(t, dir, map[string]string{"offsite": "accessKey: a\nsecretKey: b\n"})
	if got, err := readCredentials(dir, "offsite"); err != nil || got[store.KeySecretKey] != "b" {
		t.Errorf("got %v, %v", got, err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := readCredentials(dir, "offsite"); node.FailureOf(err).Reason != "FileUnsafe" {
		t.Errorf("a file that others can read: %v", err)
	}
	for _, name := range []string{"../offsite", "stores.yaml", ""} {
		if _, err := readCredentials(dir, name); err == nil {
			t.Errorf("%q is accepted", name)
		}
	}
}

func TestHostWithoutPinsAllowsNothing(t *testing.T) {
	dir := t.TempDir()
	pins, err := ReadPins(filepath.Join(dir, "stores.yaml"))
	if err != nil || len(pins.Recipients)+len(pins.Locations) > 0 {
		t.Errorf("got %+v, %v", pins, err)
	}
	writeTree(t, dir, map[string]string{"stores.yaml": "recipients: [age1a]\nlocations: [/mnt]\n", "wrong.yaml": "recipient: age1a\n"})
	if pins, err = ReadPins(filepath.Join(dir, "stores.yaml")); err != nil || len(pins.Recipients) != 1 || pins.Locations[0] != "/mnt" {
		t.Errorf("got %+v, %v", pins, err)
	}
	if _, err := ReadPins(filepath.Join(dir, "wrong.yaml")); node.FailureOf(err).Reason != "PinsInvalid" {
		t.Errorf("a misspelled field: %v", err)
	}
	if err := os.Chmod(filepath.Join(dir, "stores.yaml"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadPins(filepath.Join(dir, "stores.yaml")); node.FailureOf(err).Reason != "FileUnsafe" {
		t.Errorf("a file that others can write: %v", err)
	}
}
