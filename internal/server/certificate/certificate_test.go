package certificate_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/server/certificate"
)

var hosts = []string{"localhost", "127.0.0.1", "::1"}

func TestTheServersOwnCertificateStays(t *testing.T) {
	directory := t.TempDir()
	first, err := certificate.Own(directory, hosts, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	second, err := certificate.Own(directory, hosts, time.Now)
	if err != nil || first.Fingerprint() != second.Fingerprint() || len(first.Fingerprint()) != 95 {
		t.Errorf("%s, then %s, %v", first.Fingerprint(), second.Fingerprint(), err)
	}
	info, err := os.Stat(filepath.Join(directory, "tls.key"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key: %v, %v", info, err)
	}
	for situation, next := range map[string]func() (*certificate.Source, error){
		"another host": func() (*certificate.Source, error) {
			return certificate.Own(directory, append(hosts, "refit.example"), time.Now)
		},
		"it ends soon": func() (*certificate.Source, error) {
			return certificate.Own(directory, hosts, func() time.Time { return time.Now().Add(350 * 24 * time.Hour) })
		},
	} {
		if s, err := next(); err != nil || s.Fingerprint() == first.Fingerprint() {
			t.Errorf("%s: the certificate is the same, %v", situation, err)
		}
	}
}

func TestFilesOfTheUserAreLoadedAgain(t *testing.T) {
	directory, now := t.TempDir(), time.Now()
	clock := func() time.Time { return now }
	if _, err := certificate.Own(directory, hosts, clock); err != nil {
		t.Fatal(err)
	}
	crt, key := filepath.Join(directory, "tls.crt"), filepath.Join(directory, "tls.key")
	var failures []error
	s, err := certificate.Files(crt, key, clock, func(err error) { failures = append(failures, err) })
	if err != nil {
		t.Fatal(err)
	}
	before := s.Fingerprint()
	if err := os.WriteFile(crt, []byte("half a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Minute)
	if c, err := s.Get(nil); err != nil || c == nil || len(failures) != 1 || s.Fingerprint() != before {
		t.Errorf("with a broken file: %v, %v", err, failures)
	}
	if _, err := certificate.Own(directory, hosts, clock); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Minute)
	if _, err := s.Get(nil); err != nil || s.Fingerprint() == before {
		t.Errorf("the certificate is the old one, %v", err)
	}
	if _, err := certificate.Files(filepath.Join(directory, "none"), key, clock, nil); err == nil {
		t.Error("a missing file is no error")
	}
}

func TestTheServersOwnCertificateIsReplacedWhileItRuns(t *testing.T) {
	now := time.Now()
	s, err := certificate.Own(t.TempDir(), hosts, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	before := s.Fingerprint()
	now = now.Add(300 * 24 * time.Hour)
	if c, err := s.Get(nil); err != nil || s.Fingerprint() != before || c.Leaf.NotAfter.Before(now) {
		t.Errorf("it was replaced early, %v", err)
	}
	now = now.Add(60 * 24 * time.Hour)
	if c, err := s.Get(nil); err != nil || s.Fingerprint() == before || c.Leaf.NotAfter.Before(now.Add(300*24*time.Hour)) {
		t.Errorf("it is the same, %v", err)
	}
}
