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
	"strings"
)

// PublicKey is a key that verifies ClusterReleases.
type PublicKey struct {
	// ID is the key's fingerprint in the format of ssh: SHA256: and base64.
	ID  string
	Key ed25519.PublicKey
}

const fingerprintPrefix = "SHA256:"

// The PEM block types of keys.
const (
	pemPrivate = "PRIVATE KEY"
	pemPublic  = "PUBLIC KEY"
)

// NewKey creates a key that signs ClusterReleases.
func NewKey() ed25519.PrivateKey {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil { // crypto/rand exits instead of returning an error
		panic(err)
	}
	return key
}

// PublicOf returns the public key of a private key.
func PublicOf(key ed25519.PrivateKey) PublicKey {
	return newPublicKey(ed25519.PublicKey(key[ed25519.PrivateKeySize-ed25519.PublicKeySize:]))
}

func newPublicKey(key ed25519.PublicKey) PublicKey {
	sum := sha256.Sum256(key)
	return PublicKey{ID: fingerprintPrefix + base64.RawStdEncoding.EncodeToString(sum[:]), Key: key}
}

// CheckFingerprint rejects what is not the ID of a PublicKey.
func CheckFingerprint(id string) error {
	text, ok := strings.CutPrefix(id, fingerprintPrefix)
	sum, err := base64.RawStdEncoding.Strict().DecodeString(text)
	if !ok || err != nil || len(sum) != sha256.Size {
		return fmt.Errorf("%q is not a fingerprint such as SHA256:50TAeRMgwyhUYO3bUj8UyI2FetpGuXpWkNiM+Xi5GR8", id)
	}
	return nil
}

// MarshalPrivate encodes a private key as PKCS#8 in PEM, without a passphrase.
func MarshalPrivate(key ed25519.PrivateKey) ([]byte, error) {
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("cannot encode the private key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: pemPrivate, Bytes: raw}), nil
}

// MarshalPublic encodes a public key as PKIX in PEM.
func MarshalPublic(key ed25519.PublicKey) ([]byte, error) {
	raw, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil, fmt.Errorf("cannot encode the public key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: pemPublic, Bytes: raw}), nil
}

// ParsePrivate parses a key that MarshalPrivate encoded. Its errors contain nothing of the input.
func ParsePrivate(text []byte) (ed25519.PrivateKey, error) {
	raw, err := onlyBlock(text, pemPrivate)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(raw)
	if err != nil {
		return nil, errors.New("not a private key in PKCS#8")
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, errors.New("not an ed25519 key")
	}
	return key, nil
}

// ParsePublic parses a key that MarshalPublic encoded.
func ParsePublic(text []byte) (PublicKey, error) {
	raw, err := onlyBlock(text, pemPublic)
	if err != nil {
		return PublicKey{}, err
	}
	parsed, err := x509.ParsePKIXPublicKey(raw)
	if err != nil {
		return PublicKey{}, errors.New("not a public key in PKIX")
	}
	key, ok := parsed.(ed25519.PublicKey)
	if !ok {
		return PublicKey{}, errors.New("not an ed25519 key")
	}
	return newPublicKey(key), nil
}

// onlyBlock returns the only PEM block of a text. With several it would be unclear which one is
// used.
func onlyBlock(text []byte, want string) ([]byte, error) {
	block, rest := pem.Decode(text)
	switch {
	case block == nil:
		return nil, errors.New("no key in PEM found")
	case block.Type == pemPrivate && want == pemPublic:
		return nil, errors.New("this is a private key, but a public key is required: keep the private key with its owner only")
	case block.Type != want:
		return nil, fmt.Errorf("found a %q, not a %q", block.Type, want)
	}
	if more, _ := pem.Decode(rest); more != nil {
		return nil, errors.New("more than one key found")
	}
	return block.Bytes, nil
}
