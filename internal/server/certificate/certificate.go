// Package certificate provides the certificate of the server: one of its own, which stays the same
// over restarts so that a browser can trust its fingerprint, or files of the user, which are loaded
// again when they change.
package certificate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/refit-dev/refit/internal/engine/durable"
)

const (
	certificateFile = "tls.crt"
	keyFile         = "tls.key"

	validFor = 365 * 24 * time.Hour
	// renewBefore is how long before its end a certificate of the server's own is replaced.
	renewBefore = 30 * 24 * time.Hour
	// checkInterval is how often the files of the user are checked for changes.
	checkInterval = 5 * time.Second
)

// Source provides a certificate.
type Source struct {
	certificate, key string
	now              func() time.Time

	hosts []string // of a certificate of the server's own

	mu      sync.Mutex
	loaded  *tls.Certificate
	checked time.Time
	changed [2]time.Time // when the files changed
	failed  func(error)
}

// Files provides the certificate in files of the user. failed receives why changed files cannot be
// loaded; the certificate that was loaded before stays in use.
func Files(certificate, key string, now func() time.Time, failed func(error)) (*Source, error) {
	s := &Source{certificate: certificate, key: key, now: now, failed: failed}
	if err := s.load(); err != nil {
		return nil, err
	}
	return s, nil
}

// Own provides a certificate of the server's own for these hosts. It is created in a directory,
// whose path is absolute, and replaced before it ends or when the hosts change.
func Own(directory string, hosts []string, now func() time.Time) (*Source, error) {
	s := &Source{certificate: filepath.Join(directory, certificateFile), key: filepath.Join(directory, keyFile), now: now, hosts: hosts, failed: func(error) {}}
	err := s.load()
	if err == nil && s.fits(hosts) {
		return s, nil
	}
	if err := s.create(hosts); err != nil {
		return nil, fmt.Errorf("cannot create a certificate in %s: %w", directory, err)
	}
	err = s.load()
	return s, err
}

// fits reports whether the certificate is valid for these hosts for long enough.
func (s *Source) fits(hosts []string) bool {
	leaf := s.loaded.Leaf
	return s.now().Before(leaf.NotAfter.Add(-renewBefore)) &&
		!slices.ContainsFunc(hosts, func(host string) bool { return leaf.VerifyHostname(host) != nil })
}

func (s *Source) create(hosts []string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "refit serve"},
		NotBefore: s.now().Add(-time.Hour), NotAfter: s.now().Add(validFor),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return errors.Join(
		write(s.key, "PRIVATE KEY", private, 0o600),
		write(s.certificate, "CERTIFICATE", der, 0o644),
	)
}

func write(path, kind string, content []byte, mode fs.FileMode) error {
	return durable.WriteFileWith(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), durable.Attributes{Mode: mode, Owner: durable.Caller})
}

// load loads the files. The caller holds the lock, or is the only one.
func (s *Source) load() error {
	s.checked = s.now()
	changed, err := s.modified()
	if err != nil {
		return fmt.Errorf("cannot read the certificate: %w", err)
	}
	if s.loaded != nil && changed == s.changed {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(s.certificate, s.key)
	if err != nil {
		return fmt.Errorf("cannot load the certificate %s with its key %s: %w", s.certificate, s.key, err)
	}
	if pair.Leaf == nil {
		if pair.Leaf, err = x509.ParseCertificate(pair.Certificate[0]); err != nil {
			return fmt.Errorf("cannot parse the certificate %s: %w", s.certificate, err)
		}
	}
	s.loaded, s.changed = &pair, changed
	return nil
}

func (s *Source) modified() (out [2]time.Time, err error) {
	for i, path := range []string{s.certificate, s.key} {
		info, err := os.Stat(path)
		if err != nil {
			return out, err
		}
		out[i] = info.ModTime()
	}
	return out, nil
}

// Get returns the certificate for a connection.
func (s *Source) Get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now().Sub(s.checked) >= checkInterval {
		if err := errors.Join(s.renew(), s.load()); err != nil {
			s.failed(err)
		}
	}
	return s.loaded, nil
}

// renew replaces a certificate of the server's own that ends soon: the server may run for longer.
func (s *Source) renew() error {
	if s.hosts == nil || s.fits(s.hosts) {
		return nil
	}
	return s.create(s.hosts)
}

// Fingerprint is the SHA-256 fingerprint of the certificate, as browsers show it.
func (s *Source) Fingerprint() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := sha256.Sum256(s.loaded.Certificate[0])
	pairs := make([]string, 0, len(sum))
	for _, b := range sum {
		pairs = append(pairs, strings.ToUpper(hex.EncodeToString([]byte{b})))
	}
	return strings.Join(pairs, ":")
}

// Config is the configuration of TLS with this certificate.
func (s *Source) Config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS13, GetCertificate: s.Get, NextProtos: []string{"h2", "http/1.1"}}
}
