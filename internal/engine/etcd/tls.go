package etcd

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"sync"
)

// tlsConfig reads the client certificate from disk for each handshake: an upgrade renews
// certificates while connections are open.
func (c Config) tlsConfig() (*tls.Config, error) {
	if c.CA == "" {
		return nil, nil //nolint:nilnil // no TLS
	}
	text, err := os.ReadFile(c.CA)
	if err != nil {
		return nil, fmt.Errorf("cannot read the CA of etcd: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("cannot read the CA of etcd: %s has no certificate", c.CA)
	}
	first, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	if err != nil {
		return nil, fmt.Errorf("cannot read the client certificate for etcd: %w", err)
	}
	pair := &keyPair{config: c, last: &first}
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, GetClientCertificate: pair.get}, nil
}

// keyPair is a certificate and its key. They are replaced one after the other; in between, the last
// matching pair is used.
type keyPair struct {
	sync.Mutex
	config Config
	last   *tls.Certificate
}

func (p *keyPair) get(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	p.Lock()
	defer p.Unlock()
	if read, err := tls.LoadX509KeyPair(p.config.Cert, p.config.Key); err == nil {
		p.last = &read
	}
	return p.last, nil
}
