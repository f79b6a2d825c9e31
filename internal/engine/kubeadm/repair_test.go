package kubeadm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A rollback restores no certificate. What a cut-off renewal tore is renewed again; all else stays,
// renewed or not.
func TestRollbackRepairsTornCertificatesOnly(t *testing.T) {
	dir := t.TempDir()
	ca := makePKI(t, dir)
	conf := filepath.Join(dir, "scheduler.conf")
	kubeconfig(t, conf, ca)
	path, calls := pretend(t, "")
	k := Kubeadm{Path: path, Dir: t.TempDir()}
	names := []string{"apiserver", "front-proxy-client", "scheduler.conf"}
	torn := func() string {
		t.Helper()
		found, err := k.torn(dir, dir, names)
		must(t, err)
		var all []string
		for _, c := range found {
			all = append(all, c.name)
		}
		return strings.Join(all, " ")
	}
	key := filepath.Join(dir, "apiserver.key")
	whole := read(t, key)
	write(t, key, "by somebody else")
	if got := torn(); got != "" {
		t.Errorf("the operation has not begun to renew %s", got)
	}
	write(t, key, whole)
	must(t, k.renew(t.Context(), "FILE", dir, dir, names))
	if got := torn(); got != "" {
		t.Errorf("torn: %s", got)
	}
	write(t, key, read(t, filepath.Join(dir, "front-proxy-client.key")))
	text := read(t, conf)
	write(t, conf, text[:len(text)/2])
	if got := torn(); got != "apiserver scheduler.conf" {
		t.Errorf("torn: %q", got)
	}
	must(t, os.Remove(calls))
	found, err := k.torn(dir, dir, names)
	must(t, err)
	if err := k.renewAll(t.Context(), "FILE", dir, dir, found); err == nil {
		t.Error("a kubeadm that does nothing repaired the certificate")
	}
	if got := read(t, calls); !strings.Contains(got, "renew apiserver ") || strings.Contains(got, "front-proxy-client") {
		t.Errorf("kubeadm was called with %q", got)
	}
	must(t, os.Remove(filepath.Join(dir, "ca.key")))
	if got := torn(); got != "" {
		t.Errorf("a CA that is kept elsewhere cannot renew %s", got)
	}
}

func TestEmbeddedCertificateOfAKubeconfig(t *testing.T) {
	dir := t.TempDir()
	ca := &authority{}
	ca.sign(t, "ca", true)
	conf := filepath.Join(dir, "kubelet.conf")
	kubeconfig(t, conf, ca)
	if found := EmbeddedCertificate([]byte(read(t, conf))); found == nil || found.Subject.CommonName != "user" {
		t.Errorf("got %v", found)
	}
	rotating := `{"current-context":"c","contexts":[{"name":"c","context":{"user":"u"}}],"users":[{"name":"u","user":{"client-certificate":"/var/lib/kubelet/x.pem"}}]}`
	for _, text := range []string{rotating, "", "{"} {
		if found := EmbeddedCertificate([]byte(text)); found != nil {
			t.Errorf("%q carries %v", text, found)
		}
	}
}
