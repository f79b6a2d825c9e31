package artifact

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
)

// PublicKey is a key that ClusterReleases are verified with.
type PublicKey struct {
	// ID is the key's fingerprint, written as ssh writes one: SHA256: and base64.
	ID  string
	Key ed25519.PublicKey
}

// The types of the PEM blocks that keys are kept in.
const (
	pemPrivate = "PRIVATE KEY"
	pemPublic  = "PUBLIC KEY"
)

// NewKey makes a key to sign Releases with.
func NewKey() ed25519.PrivateKey {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil { // the system's randomness does not fail: crypto/rand ends the program instead
		panic(err)
	}
	return key
}

// PublicOf is what verifies the signatures of a private key.
func PublicOf(key ed25519.PrivateKey) PublicKey {
	return newPublicKey(ed25519.PublicKey(key[ed25519.PrivateKeySize-ed25519.PublicKeySize:]))
}

func newPublicKey(key ed25519.PublicKey) PublicKey {
	sum := sha256.Sum256(key)
	return PublicKey{ID: "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:]), Key: key}
}

// MarshalPrivate writes a private key as PKCS#8 in PEM, without a passphrase.
func MarshalPrivate(key ed25519.PrivateKey) ([]byte, error) {
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("write the private key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: pemPrivate, Bytes: raw}), nil
}

// MarshalPublic writes a public key as PKIX in PEM.
func MarshalPublic(key ed25519.PublicKey) ([]byte, error) {
	raw, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil, fmt.Errorf("write the public key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: pemPublic, Bytes: raw}), nil
}

// ParsePrivate reads what MarshalPrivate wrote. Nothing of the input gets into an error.
func ParsePrivate(text []byte) (ed25519.PrivateKey, error) {
	raw, err := onlyBlock(text, pemPrivate)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(raw)
	if err != nil {
		return nil, errors.New("it is no private key in PKCS#8")
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, errors.New("it is no ed25519 key")
	}
	return key, nil
}

// ParsePublic reads what MarshalPublic wrote.
func ParsePublic(text []byte) (PublicKey, error) {
	raw, err := onlyBlock(text, pemPublic)
	if err != nil {
		return PublicKey{}, err
	}
	parsed, err := x509.ParsePKIXPublicKey(raw)
	if err != nil {
		return PublicKey{}, errors.New("it is no public key in PKIX")
	}
	key, ok := parsed.(ed25519.PublicKey)
	if !ok {
		return PublicKey{}, errors.New("it is no ed25519 key")
	}
	return newPublicKey(key), nil
}

// onlyBlock returns the one PEM block of a text. More than one would leave open which of them counts.
func onlyBlock(text []byte, want string) ([]byte, error) {
	block, rest := pem.Decode(text)
	switch {
	case block == nil:
		return nil, errors.New("it holds no key in PEM")
	case block.Type == pemPrivate && want == pemPublic:
		return nil, errors.New("it is a private key; a public one is wanted, and the private one belongs nowhere else than with its owner")
	case block.Type != want:
		return nil, fmt.Errorf("it holds a %q, not a %q", block.Type, want)
	}
	if more, _ := pem.Decode(rest); more != nil {
		return nil, errors.New("it holds more than one key")
	}
	return block.Bytes, nil
}
