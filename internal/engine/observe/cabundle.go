package observe

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"
)

// lastExpiry is when the last certificate of a CA bundle expires: a bundle is of use as long as one of its certificates is, since a rotation leaves
// the old one beside the new one. No bundle has no expiry.
func lastExpiry(bundle []byte) (time.Time, error) {
	if len(bundle) == 0 {
		return time.Time{}, nil
	}
	var last time.Time
	for rest := bundle; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return time.Time{}, fmt.Errorf("the CA bundle has a certificate that cannot be read: %w", err)
		}
		if certificate.NotAfter.After(last) {
			last = certificate.NotAfter
		}
	}
	if last.IsZero() {
		return time.Time{}, errors.New("the CA bundle has no certificate in it")
	}
	return last.UTC(), nil
}
