package observe

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"
)

// lastExpiry returns when the last certificate of a CA bundle expires: during a rotation a bundle
// contains the old and the new one. It is zero without a bundle.
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
			return time.Time{}, fmt.Errorf("cannot parse a certificate of the CA bundle: %w", err)
		}
		if certificate.NotAfter.After(last) {
			last = certificate.NotAfter
		}
	}
	if last.IsZero() {
		return time.Time{}, errors.New("the CA bundle contains no certificate")
	}
	return last.UTC(), nil
}
