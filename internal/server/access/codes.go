package access

import (
	"sync"
	"time"
)

// The strength and the validity of a one-time code.
const (
	codeBits     = 128
	codeValidFor = 10 * time.Minute
)

// Codes are one-time codes, which start a session without other credentials. They are for the
// person who has started the server.
type Codes struct {
	now func() time.Time

	mu    sync.Mutex
	valid map[key]time.Time // until when
}

// NewCodes returns no codes.
func NewCodes(now func() time.Time) *Codes { return &Codes{now: now, valid: map[key]time.Time{}} }

// Issue returns a code.
func (c *Codes) Issue() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	code := newSecret(codeBits)
	c.valid[keyOf(code)] = c.now().Add(codeValidFor)
	return code
}

// Redeem reports whether a code is valid. No code is valid twice.
func (c *Codes) Redeem(code string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	until, issued := c.valid[keyOf(code)]
	delete(c.valid, keyOf(code))
	return issued && c.now().Before(until)
}
