package access

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// Store keeps sessions over a restart of the server, by the hash of the secret of their cookie.
// They are sealed: only the browser has what opens them.
type Store interface {
	Load() (map[string]Sealed, error)
	Save(map[string]Sealed) error
}

// Sealed is a session that nobody can read without the secret of its cookie.
type Sealed struct {
	Expires time.Time `json:"expires"`
	Content []byte    `json:"content"`
}

// sealPurpose separates the key of the seal from other uses of the secret.
const sealPurpose = "refit session"

// content is what is sealed of a session.
type content struct {
	User     User
	Token    string
	Refresh  string `json:",omitempty"`
	Issuer   string `json:",omitempty"`
	Reviewed time.Time
	Allowed  []Attributes `json:",omitempty"`
	Denied   []Attributes `json:",omitempty"`
}

// sealOf returns what seals the session of a secret.
func sealOf(secret string) cipher.AEAD {
	// Neither can fail with keys and secrets of these lengths.
	key, _ := hkdf.Key(sha256.New, []byte(secret), nil, sealPurpose, 32)
	block, _ := aes.NewCipher(key)
	seal, _ := cipher.NewGCMWithRandomNonce(block)
	return seal
}

func (s *session) sealed() (Sealed, error) {
	c := content{User: s.User, Token: s.Token, Refresh: s.Refresh, Issuer: s.Issuer, Reviewed: s.reviewed}
	for a, allowed := range s.allowed {
		if allowed {
			c.Allowed = append(c.Allowed, a)
		} else {
			c.Denied = append(c.Denied, a)
		}
	}
	plain, err := json.Marshal(c)
	if err != nil {
		return Sealed{}, err
	}
	return Sealed{Expires: s.Expires, Content: s.seal.Seal(nil, nil, plain, s.key[:])}, nil //nolint:gosec // the nonce is random: see sealOf
}

// unseal opens the session of a secret.
func unseal(secret string, from Sealed) (*session, error) {
	seal, k := sealOf(secret), keyOf(secret)
	plain, err := seal.Open(nil, nil, from.Content, k[:])
	if err != nil {
		return nil, fmt.Errorf("cannot open a session: %w", err)
	}
	var c content
	if err := json.Unmarshal(plain, &c); err != nil {
		return nil, fmt.Errorf("cannot read a session: %w", err)
	}
	out := &session{
		Principal: Principal{User: c.User, Token: c.Token, Refresh: c.Refresh, Issuer: c.Issuer, Session: true, Expires: from.Expires, key: k},
		reviewed:  c.Reviewed, allowed: map[Attributes]bool{}, seal: seal, renewing: make(chan struct{}, 1),
	}
	for _, a := range c.Allowed {
		out.allowed[a] = true
	}
	for _, a := range c.Denied {
		out.allowed[a] = false
	}
	return out, nil
}

func (k key) name() string { return hex.EncodeToString(k[:]) }
