package kubeadm

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"slices"
)

// CAKeys returns the digests of the public keys of all certificates in a PEM file, sorted.
func CAKeys(text []byte) ([]string, error) {
	var out []string
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(certificate.RawSubjectPublicKeyInfo)
		out = append(out, "sha256:"+hex.EncodeToString(sum[:]))
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
