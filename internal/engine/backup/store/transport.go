package store

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"time"
)

// newTransport returns a transport whose connections fail when nothing is sent or received for the
// stall timeout. With a CA bundle only its certificates are trusted.
func newTransport(ca []byte, stall time.Duration) (*http.Transport, error) {
	var roots *x509.CertPool
	if len(ca) > 0 {
		roots = x509.NewCertPool()
		if !roots.AppendCertsFromPEM(ca) {
			return nil, errors.New("the CA bundle has no certificate in PEM format")
		}
	}
	dialer := &net.Dialer{Timeout: min(stall, 30*time.Second)}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &impatient{conn, stall}, nil
		},
		TLSClientConfig:     &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: min(stall, 30*time.Second),
		MaxIdleConnsPerHost: uploadThreads,
		IdleConnTimeout:     stall,
		DisableCompression:  true, // sizes must be those of the objects
	}, nil
}

// impatient is a connection that fails when nothing is sent or received for a time. Sending extends
// the time for receiving too: a server answers after the whole request.
type impatient struct {
	net.Conn
	stall time.Duration
}

func (c *impatient) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.stall)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// Write sends in pieces: each has the whole timeout, so a slow connection is not a dead one.
func (c *impatient) Write(p []byte) (sent int, err error) {
	const piece = 64 << 10
	for sent < len(p) {
		if err := c.SetDeadline(time.Now().Add(c.stall)); err != nil {
			return sent, err
		}
		n, err := c.Conn.Write(p[sent:min(sent+piece, len(p))])
		sent += n
		if err != nil {
			return sent, err
		}
	}
	return sent, nil
}
