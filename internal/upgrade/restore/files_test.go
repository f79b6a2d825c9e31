package restore

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"
)

// issued returns a certificate that was issued at a time and is valid for a year.
func issued(t *testing.T, at time.Time) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(at.Unix()), NotBefore: at, NotAfter: at.AddDate(1, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func files(content map[string]string) map[string]File {
	all := map[string]File{}
	for path, text := range content {
		all[path] = File{Path: path, Content: []byte(text)}
	}
	return all
}

func TestFilesOfTheHost(t *testing.T) {
	const (
		pki     = "/etc/kubernetes/pki/"
		crt     = pki + "apiserver.crt"
		key     = pki + "apiserver.key"
		admin   = "/etc/kubernetes/admin.conf"
		secrets = "/etc/kubernetes/enc/config.yaml"
		etcd    = "/etc/kubernetes/manifests/etcd.yaml"
	)
	before, after, long := issued(t, now.AddDate(0, -6, 0)), issued(t, now.AddDate(0, -1, 0)), issued(t, now.AddDate(-2, 0, 0))
	kubeconfig := func(c string) string {
		return "users:\n- user:\n    client-certificate-data: " + base64.StdEncoding.EncodeToString([]byte(c)) + "\n"
	}
	backup := map[string]string{crt: before, key: "k1", pki + "ca.crt": before, pki + "ca.key": "ck", admin: kubeconfig(before), secrets: "aescbc", etcd: "pod"}
	for name, tt := range map[string]struct {
		present   map[string]string
		backup    map[string]string
		from      string
		overwrite []string
		written   []string
		note      string
	}{
		"everything is lost":              {written: []string{admin, secrets, crt, key, pki + "ca.crt", pki + "ca.key", etcd}},
		"nothing is lost":                 {present: backup},
		"one is lost":                     {present: map[string]string{crt: before, key: "k1", pki + "ca.crt": before, pki + "ca.key": "ck", admin: kubeconfig(before), etcd: "pod"}, written: []string{secrets}},
		"one differs":                     {present: merged(backup, secrets, "other"), note: "--overwrite " + secrets},
		"one differs and is named":        {present: merged(backup, secrets, "other"), overwrite: []string{secrets}, written: []string{secrets}},
		"a newer certificate":             {present: merged(backup, crt, after), note: "is newer"},
		"a newer certificate is named":    {present: merged(backup, crt, after), overwrite: []string{crt}, written: []string{crt}, note: "is newer"},
		"a newer kubeconfig":              {present: merged(backup, admin, kubeconfig(after)), note: "is newer"},
		"the key of a newer certificate":  {present: lacking(merged(backup, crt, after), key), note: "does not match " + crt},
		"an expired one":                  {backup: map[string]string{crt: long}, note: "has expired"},
		"files of another host":           {from: "cp-2", written: []string{secrets, pki + "ca.crt", pki + "ca.key"}, note: "belongs to cp-2"},
		"a named file of another host":    {present: merged(backup, admin, "x"), from: "cp-2", overwrite: []string{admin}, note: "belongs to cp-2"},
		"a key and certificate are named": {present: merged(merged(backup, crt, after), key, "k2"), overwrite: []string{crt, key}, written: []string{crt, key}, note: "is newer"},
	} {
		if tt.backup == nil {
			tt.backup = backup
		}
		changes, err := Files(files(tt.backup), files(tt.present), FileRequest{Now: now, From: tt.from, Overwrite: tt.overwrite})
		if err != nil {
			t.Fatal(err)
		}
		var written, notes []string
		for _, c := range changes {
			if c.Write {
				written = append(written, c.Path)
			}
			notes = append(notes, c.Note)
		}
		if !slices.Equal(written, tt.written) || !strings.Contains(strings.Join(notes, "\n"), tt.note) {
			t.Errorf("%s: %q, want %q; notes %q", name, written, tt.written, notes)
		}
	}
	if _, err := Files(files(backup), nil, FileRequest{Overwrite: []string{"/etc/passwd"}}); err == nil {
		t.Error("a file that is not in the backup can be named")
	}
}

func merged(content map[string]string, path, text string) map[string]string {
	all := map[string]string{path: text}
	for p, t := range content {
		if p != path {
			all[p] = t
		}
	}
	return all
}

func lacking(content map[string]string, path string) map[string]string {
	delete(content, path)
	return content
}
