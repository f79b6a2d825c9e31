//go:build keyring

package keyring

import (
	"os"
	"testing"
)

// Run it with `make test-keyring`, in a session of its own.
func TestSecretOfARealKeyring(t *testing.T) {
	ring := OfUser(os.Getenv, os.Stderr)
	if ring == nil {
		t.Fatal("the session has no keyring")
	}
	if _, found, err := ring.Get(t.Context(), t.Name()); found || err != nil {
		t.Fatalf("before: %t, %v", found, err)
	}
	if err := ring.Set(t.Context(), t.Name(), "correct horse"); err != nil {
		t.Fatal(err)
	}
	if secret, found, err := ring.Get(t.Context(), t.Name()); secret != "correct horse" || !found || err != nil {
		t.Errorf("after: %q, %t, %v", secret, found, err)
	}
}
