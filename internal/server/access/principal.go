package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"time"
)

// Principal is a caller whose identity is known.
type Principal struct {
	User User
	// Token are the credentials for writes. It is empty if the caller acts with the credentials of
	// the server.
	Token string
	// Refresh renews the token during the session; empty if nothing does. It is for the issuer with
	// this name alone: no other may see it.
	Refresh, Issuer string
	// Own is true for a session that a one-time code started: it acts with the credentials of the
	// server, which are those of the person who has started it.
	Own bool
	// Session is true if the caller has a session, and Expires is its end.
	Session bool
	Expires time.Time

	key key // identifies the session or the token in caches
}

// key is the hash of a secret. Secrets themselves are neither compared nor kept as keys.
type key [sha256.Size]byte

func keyOf(secret string) key { return sha256.Sum256([]byte(secret)) }

// ID identifies the caller in limits.
func (p *Principal) ID() string { return string(p.key[:]) }

// newSecret returns a secret with this many random bits.
func newSecret(bits int) string {
	secret := make([]byte, bits/8)
	_, _ = rand.Read(secret) // never fails
	return base64.RawURLEncoding.EncodeToString(secret)
}
