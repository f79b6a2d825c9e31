package seal

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"
)

func newIdentity(t *testing.T) *age.X25519Identity {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return identity
}

func encrypted(t *testing.T, to ...age.Recipient) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := age.Encrypt(&out, to...)
	if err == nil {
		_, err = io.WriteString(w, "etcd")
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestARingKnowsWhichIdentitiesDecrypt(t *testing.T) {
	a, b, other := newIdentity(t), newIdentity(t), newIdentity(t)
	ring := NewRing([]age.Identity{other, a, b, a})
	for range 2 {
		if _, err := age.Decrypt(bytes.NewReader(encrypted(t, a.Recipient(), b.Recipient())), ring); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := age.Decrypt(bytes.NewReader(encrypted(t, a.Recipient())), ring); err != nil {
		t.Fatal(err)
	}
	if got := ring.Opened(3); !slices.Equal(got, []string{a.Recipient().String()}) {
		t.Errorf("decrypted all: %v", got)
	}
	if got := ring.Opened(2); !slices.Equal(got, []string{b.Recipient().String()}) {
		t.Errorf("decrypted two: %v", got)
	}
	if _, err := age.Decrypt(bytes.NewReader(encrypted(t, a.Recipient())), NewRing([]age.Identity{b, other})); err == nil {
		t.Error("the identities of others decrypt")
	}
	if _, err := age.Decrypt(bytes.NewReader(encrypted(t, a.Recipient())), NewRing(nil)); err == nil {
		t.Error("a ring without identities decrypts")
	}
}

// A header is not proven before its key is used: an identity may find another key in it.
func TestAnIdentityWithAnotherKeyDoesNotCount(t *testing.T) {
	a, b := newIdentity(t), newIdentity(t)
	fileKey, otherKey := bytes.Repeat([]byte{1}, 16), bytes.Repeat([]byte{2}, 16)
	own, err := a.Recipient().Wrap(fileKey)
	if err != nil {
		t.Fatal(err)
	}
	forged, err := b.Recipient().Wrap(otherKey)
	if err != nil {
		t.Fatal(err)
	}
	ring := NewRing([]age.Identity{a, b})
	key, err := ring.Unwrap(append(own, forged...))
	if err != nil || !bytes.Equal(key, fileKey) || !slices.Equal(ring.Opened(1), []string{a.Recipient().String()}) {
		t.Errorf("key %x, %v, opened %v", key, err, ring.Opened(1))
	}
}

func TestFilesWithoutUsableIdentitiesAreExplained(t *testing.T) {
	identity := newIdentity(t)
	passphrase, err := age.NewScryptRecipient("secret")
	if err != nil {
		t.Fatal(err)
	}
	passphrase.SetWorkFactor(1)
	for situation, c := range map[string]struct{ text, want string }{
		"protected by a passphrase": {string(encrypted(t, passphrase)), "passphrase"},
		"protected, as text":        {"-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n", "passphrase"},
		"a recipient":               {identity.Recipient().String(), "it is a recipient"},
		"an identity of a plugin":   {"AGE-PLUGIN-YUBIKEY-1QQQ", "plugin"},
		"comments only":             {"# public key: age1\n", "there is no age identity"},
		"a second line is broken":   {identity.String() + "\nAGE-SECRET-KEY-1QQ\n", "line 2"},
	} {
		if _, err := Identities(c.text); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "QQ") {
			t.Errorf("%s: %v", situation, err)
		}
	}
	if got, err := Identities("# two\n" + identity.String() + "\n\n" + newIdentity(t).String() + "\n"); err != nil || len(got) != 2 {
		t.Errorf("got %d identities, %v", len(got), err)
	}
}
