package observe

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"
)

func TestLastExpiry(t *testing.T) {
	soon, late := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2036, 1, 1, 0, 0, 0, 0, time.UTC)
	key := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: []byte("x")})
	for name, test := range map[string]struct {
		bundle []byte
		want   time.Time
		err    string
	}{
		"no bundle":                 {nil, time.Time{}, ""},
		"one certificate":           {certificate(t, soon), soon, ""},
		"an old and a new one":      {bytes.Join([][]byte{certificate(t, late), certificate(t, soon)}, nil), late, ""},
		"another block":             {bytes.Join([][]byte{key, certificate(t, soon)}, nil), soon, ""},
		"no certificate":            {key, time.Time{}, "no certificate"},
		"not PEM":                   {[]byte("sesame"), time.Time{}, "no certificate"},
		"an invalid certificate":    {pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")}), time.Time{}, "cannot parse a certificate"},
		"text before the first one": {append([]byte("# the CA\n"), certificate(t, soon)...), soon, ""},
		"an invalid second one":     {append(certificate(t, soon), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")})...), time.Time{}, "cannot parse a certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := lastExpiry(test.bundle)
			if !got.Equal(test.want) || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("it expires %s (%v), want %s (%q)", got, err, test.want, test.err)
			}
		})
	}
}

func certificate(t *testing.T, until time.Time) []byte {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: until}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
}
