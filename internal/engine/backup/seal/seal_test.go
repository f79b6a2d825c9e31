package seal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"

	"github.com/refit-dev/refit/internal/upgrade/backup"
)

var testHeader = backup.Header{
	ClusterUID: "11111111-2222-4333-8444-555555555555",
	ID:         backup.ID{UID: "0a1b2c3d-0000-4000-8000-00000000000a", Attempt: 1},
	Part:       backup.PartEtcd,
}

func testKey(t *testing.T) *DrillKey {
	t.Helper()
	key, err := NewDrillKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// sealed returns the stored bytes of a part.
func sealed(t *testing.T, plain []byte, key *DrillKey) ([]byte, backup.Part) {
	t.Helper()
	var stored bytes.Buffer
	w, err := NewWriter(&stored, testHeader, []age.Recipient{key.Recipient()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(w, bytes.NewReader(plain)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	part, err := w.Part()
	if err != nil {
		t.Fatal(err)
	}
	return stored.Bytes(), part
}

// opened returns the plain bytes of a part.
func opened(stored []byte, header backup.Header, want backup.Part, key *DrillKey) ([]byte, error) {
	r, err := NewReader(bytes.NewReader(stored), header, want, []age.Identity{key.Identity()})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// database returns bytes that compress like a database: half random.
func database(size int) []byte {
	random := rand.NewChaCha8([32]byte{1})
	out := make([]byte, size)
	for i := 0; i < size; i += 8192 {
		_, _ = random.Read(out[i:min(i+4096, size)])
	}
	return out
}

func TestPartIsReadBack(t *testing.T) {
	key := testKey(t)
	for _, size := range []int{0, 1, 63 << 10, 64 << 10, 10 << 20} {
		plain := database(size)
		stored, part := sealed(t, plain, key)
		if want := (backup.Content{Size: int64(size), Digest: backup.Digest(plain)}); part.Plain != want {
			t.Errorf("%d bytes: plain %v", size, part.Plain)
		}
		if want := (backup.Content{Size: int64(len(stored)), Digest: backup.Digest(stored)}); part.Stored != want {
			t.Errorf("%d bytes: stored %v", size, part.Stored)
		}
		if got, err := opened(stored, testHeader, part, key); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%d bytes: read %d bytes, %v", size, len(got), err)
		}
	}
}

func TestPartIsReadableForEachRecipient(t *testing.T) {
	one, two, stranger := testKey(t), testKey(t), testKey(t)
	var stored bytes.Buffer
	w, err := NewWriter(&stored, testHeader, []age.Recipient{one.Recipient(), two.Recipient()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, "x"); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	for _, key := range []*DrillKey{one, two} {
		if _, err := opened(stored.Bytes(), testHeader, backup.Part{}, key); err != nil {
			t.Error(err)
		}
	}
	if _, err := opened(stored.Bytes(), testHeader, backup.Part{}, stranger); err == nil {
		t.Error("a stranger can decrypt the part")
	}
}

func TestPartOfAnotherBackupIsRefusedWithoutDigests(t *testing.T) {
	key := testKey(t)
	stored, _ := sealed(t, []byte("etcd"), key)
	for situation, change := range map[string]func(*backup.Header){
		"another cluster": func(h *backup.Header) { h.ClusterUID = h.ID.UID },
		"another backup":  func(h *backup.Header) { h.ID.UID = h.ClusterUID },
		"later attempt":   func(h *backup.Header) { h.ID.Attempt++ },
		"another part":    func(h *backup.Header) { h.Part = backup.PartHost },
	} {
		header := testHeader
		change(&header)
		if _, err := opened(stored, header, backup.Part{}, key); !errors.Is(err, backup.ErrOther) {
			t.Errorf("%s: %v", situation, err)
		}
	}
}

func TestChangedPartIsRefused(t *testing.T) {
	key := testKey(t)
	stored, part := sealed(t, database(200<<10), key)
	other, _ := sealed(t, database(100<<10), key)
	flipped := bytes.Clone(stored)
	flipped[len(flipped)/2] ^= 1
	for situation, tt := range map[string]struct {
		stored []byte
		want   backup.Part
	}{
		"bit flipped":                      {flipped, part},
		"bit flipped, digests unknown":     {flipped, backup.Part{}},
		"truncated":                        {stored[:len(stored)-1], part},
		"truncated, digests unknown":       {stored[:len(stored)-1], backup.Part{}},
		"truncated at a chunk of age":      {stored[:200+64<<10], backup.Part{}},
		"only the header":                  {stored[:100], backup.Part{}},
		"empty":                            {nil, part},
		"longer":                           {append(bytes.Clone(stored), 0), part},
		"longer, digests unknown":          {append(bytes.Clone(stored), 0), backup.Part{}},
		"followed by another":              {append(bytes.Clone(stored), other...), backup.Part{}},
		"another content, digest of this":  {other, part},
		"plain digest of another":          {stored, backup.Part{Stored: part.Stored, Plain: backup.Content{Size: part.Plain.Size, Digest: part.Stored.Digest}}},
		"larger than its manifest states":  {stored, backup.Part{Stored: part.Stored, Plain: backup.Content{Size: 1000, Digest: part.Plain.Digest}}},
		"smaller than its manifest states": {stored, backup.Part{Stored: part.Stored, Plain: backup.Content{Size: 1 << 30, Digest: part.Plain.Digest}}},
	} {
		if _, err := opened(tt.stored, testHeader, tt.want, key); !errors.Is(err, backup.ErrCorrupt) {
			t.Errorf("%s: %v", situation, err)
		}
	}
}

// An attacker who can write to the bucket knows the recipients, and can encrypt anything to them.
func TestForgedPartNeedsBoundedMemory(t *testing.T) {
	key := testKey(t)
	forge := func(write func(io.Writer) error) []byte {
		var stored bytes.Buffer
		w, err := age.Encrypt(&stored, key.Recipient())
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(write(w), w.Close()); err != nil {
			t.Fatal(err)
		}
		return stored.Bytes()
	}
	compress := func(w io.Writer, size, window int) error {
		_, _ = w.Write(testHeader.Encode())
		z, err := zstd.NewWriter(w, zstd.WithWindowSize(window))
		if err != nil {
			return err
		}
		_, err = io.CopyN(z, zeros{}, int64(size))
		return errors.Join(err, z.Close())
	}
	bomb := forge(func(w io.Writer) error { return compress(w, 64<<20, 1<<20) })
	large := forge(func(w io.Writer) error { return compress(w, 64<<20, 32<<20) })
	endless := append([]byte("age-encryption.org/v1\n-> X25519 "), bytes.Repeat([]byte("a"), 1<<20)...)
	for situation, tt := range map[string]struct {
		stored []byte
		want   backup.Part
	}{
		"decompresses to more than listed": {bomb, backup.Part{Plain: backup.Content{Size: 1000, Digest: "sha256:x"}}},
		"window of 32 MiB":                 {large, backup.Part{}},
		"endless header of age":            {endless, backup.Part{}},
		"endless header of the part":       {forge(func(w io.Writer) error { _, err := io.CopyN(w, zeros{}, 1<<20); return err }), backup.Part{}},
	} {
		got, err := opened(tt.stored, testHeader, tt.want, key)
		if !errors.Is(err, backup.ErrCorrupt) || len(got) > 1<<20 {
			t.Errorf("%s: %d bytes, %v", situation, len(got), err)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestCutConnectionIsNotCorruption(t *testing.T) {
	key := testKey(t)
	stored, part := sealed(t, database(1<<20), key)
	cut := fmt.Errorf("%w: reset", backup.ErrUnreachable)
	for _, after := range []int64{10, 500_000} {
		from := io.MultiReader(io.LimitReader(bytes.NewReader(stored), after), broken{cut})
		r, err := NewReader(from, testHeader, part, []age.Identity{key.Identity()})
		if err == nil {
			_, err = io.Copy(io.Discard, r)
			r.Close()
		}
		if !errors.Is(err, backup.ErrUnreachable) || errors.Is(err, backup.ErrCorrupt) {
			t.Errorf("cut after %d bytes: %v", after, err)
		}
	}
}

type broken struct{ err error }

func (b broken) Read([]byte) (int, error)  { return 0, b.err }
func (b broken) Write([]byte) (int, error) { return 0, b.err }

func TestDigestOfABeginningIsKnown(t *testing.T) {
	plain, key := database(300_000), testKey(t)
	w, err := NewWriter(io.Discard, testHeader, []age.Recipient{key.Recipient()})
	if err != nil {
		t.Fatal(err)
	}
	for _, piece := range [][]byte{plain[:200_000], plain[200_000:]} {
		if _, err := w.Write(piece); err != nil {
			t.Fatal(err)
		}
		until := plain[:w.Written().Size]
		if got := w.Written().Digest; got != backup.Digest(until) {
			t.Errorf("after %d bytes: %s", len(until), got)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if part, err := w.Part(); err != nil || part.Plain != (backup.Content{Size: 300_000, Digest: backup.Digest(plain)}) {
		t.Errorf("got %+v, %v", part, err)
	}
}

func TestWriterFailsForGood(t *testing.T) {
	key := testKey(t)
	w, err := NewWriter(&failing{after: 4096}, testHeader, []age.Recipient{key.Recipient()})
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(w, io.LimitReader(rand.NewChaCha8([32]byte{}), 64<<20))
	if !errors.Is(err, errBroken) || !errors.Is(w.Close(), errBroken) {
		t.Errorf("got %v", err)
	}
	if _, err := w.Part(); err == nil {
		t.Error("a failed part has a description")
	}
}

func TestAbandonedPartCannotBeRead(t *testing.T) {
	key := testKey(t)
	var stored bytes.Buffer
	w, err := NewWriter(&stored, testHeader, []age.Recipient{key.Recipient()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(database(1 << 20)); err != nil {
		t.Fatal(err)
	}
	w.Abandon()
	if w.Close() == nil {
		t.Error("an abandoned part was closed")
	}
	if _, err := opened(stored.Bytes(), testHeader, backup.Part{}, key); err == nil {
		t.Error("an abandoned part can be read")
	}
}

var errBroken = errors.New("broken")

type failing struct{ after int }

func (f *failing) Write(p []byte) (int, error) {
	if f.after -= len(p); f.after < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

func TestErrorsContainNoSecrets(t *testing.T) {
	key := testKey(t)
	secret := key.identity.String()
	mistyped := secret[:len(secret)-1] + "Q" + "!"
	_, asRecipient := Recipients([]string{secret})
	_, asIdentity := Identities(mistyped)
	_, noIdentity := Identities("# only a comment\n")
	for _, err := range []error{asRecipient, asIdentity, noIdentity} {
		if err == nil || strings.Contains(err.Error(), secret[20:30]) || strings.Contains(err.Error(), "!") {
			t.Errorf("got %v", err)
		}
	}
	if text := fmt.Sprintf("%v %+v %#v %s", key, key, key, key); strings.Contains(text, secret[20:30]) {
		t.Errorf("the key is printed: %s", text)
	}
}

func TestKeyFileIsParsed(t *testing.T) {
	one, two := testKey(t), testKey(t)
	got, err := Identities("# created: 2026\n" + one.identity.String() + "\n\n" + two.identity.String())
	if err != nil || len(got) != 2 {
		t.Errorf("got %d identities, %v", len(got), err)
	}
	recipients, err := Recipients([]string{one.identity.Recipient().String(), two.identity.Recipient().String()})
	if err != nil || len(recipients) != 2 {
		t.Errorf("got %d recipients, %v", len(recipients), err)
	}
}

func BenchmarkSeal(b *testing.B) {
	key, err := NewDrillKey()
	if err != nil {
		b.Fatal(err)
	}
	plain := database(64 << 20)
	b.SetBytes(int64(len(plain)))
	for b.Loop() {
		w, err := NewWriter(io.Discard, testHeader, []age.Recipient{key.Recipient()})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := w.Write(plain); err != nil {
			b.Fatal(err)
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
