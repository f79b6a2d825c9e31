package upstream

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
)

// oldKey signed testdata/v3 with gpg 1.4.23 --force-v3-sigs: newer versions do not write signatures
// of version 3, and the key is not kept.
const oldKey = "405E9A34BDC1AFB330A40AC2D585DB8120073C1D"

// oldRepositories are a copy of testdata/v3, with the repositories of both kinds.
type oldRepositories struct {
	dir string
	now time.Time
}

func (o *oldRepositories) path(name string) string { return filepath.Join(o.dir, name) }

func (o *oldRepositories) replace(t *testing.T, name, from, to string) {
	t.Helper()
	before := read(t, o.path(name))
	if !bytes.Contains(before, []byte(from)) {
		t.Fatalf("%s does not contain %q", name, from)
	}
	write(t, o.path(name), bytes.ReplaceAll(before, []byte(from), []byte(to)))
}

// resign changes the packet of the detached signature.
func (o *oldRepositories) resign(t *testing.T, change func(packet []byte) []byte) {
	t.Helper()
	path := o.path("rpm/repodata/repomd.xml.asc")
	block, err := armor.Decode(bytes.NewReader(read(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := readAll(block.Body, path, maxKey)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := armor.Encode(&out, openpgp.SignatureType, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Write(change(raw))
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	write(t, path, out.Bytes())
}

func TestSignaturesOfVersion3(t *testing.T) {
	t.Parallel()
	const signed = "rpm/repodata/repomd.xml"
	for situation, test := range map[string]struct {
		arrange  func(t *testing.T, o *oldRepositories)
		deb, rpm string // part of the error
	}{
		"as upstream": {arrange: func(*testing.T, *oldRepositories) {}},
		"another text": {
			func(t *testing.T, o *oldRepositories) {
				t.Helper()
				o.replace(t, "deb/InRelease", "187 Packages", "188 Packages")
				o.replace(t, signed, "repodata/primary.xml", "repodata/another.xml")
			}, "the signature is invalid", "the signature is invalid",
		},
		"SHA-1": {
			func(t *testing.T, o *oldRepositories) {
				t.Helper()
				write(t, o.path("deb/InRelease"), read(t, o.path("deb/InRelease.sha1")))
				o.resign(t, func(p []byte) []byte { p[3+16] = 2; return p })
			}, "its hash is not SHA-256", "its hash is not SHA-256",
		},
		"an expired key":                   {func(_ *testing.T, o *oldRepositories) { o.now = o.now.AddDate(40, 0, 0) }, "has expired", "has expired"},
		"a clock before the signature":     {func(_ *testing.T, o *oldRepositories) { o.now = o.now.AddDate(-2, 0, 0) }, "cannot prove", "cannot prove"},
		"a revoked key":                    {func(t *testing.T, o *oldRepositories) { t.Helper(); o.useKey(t, read(t, o.path("revoked.key"))) }, "is revoked", "is revoked"},
		"another creation time":            {resigned(func(p []byte) []byte { p[3+6]++; return p }), "", "the signature is invalid"},
		"the kind of a key's signature":    {resigned(func(p []byte) []byte { p[3+2] = 0x10; return p }), "", "not the signature of a document"},
		"the end of a newer signature":     {resigned(func(p []byte) []byte { p[3+2] = 0xff; return p }), "", "not the signature of a document"},
		"another key":                      {resigned(func(p []byte) []byte { p[3+7]++; return p }), "", "not signed with the pinned key"},
		"another algorithm":                {resigned(func(p []byte) []byte { p[3+15] = 17; return p }), "", "must be of RSA"},
		"a cut number":                     {resigned(func(p []byte) []byte { p[2] -= 9; return p[:len(p)-9] }), "", "damaged"},
		"nothing but the version":          {resigned(func([]byte) []byte { return []byte{0x88, 1, 3} }), "", "damaged"},
		"no packet":                        {resigned(func([]byte) []byte { return nil }), "", "not signed with the pinned key"},
		"a length that is larger":          {resigned(func(p []byte) []byte { p[1]++; return p }), "", "the signature is invalid"},
		"one of another key before it":     {resigned(func(p []byte) []byte { q := slices.Clone(p); q[3+7]++; return append(q, p...) }), "", ""},
		"a damaged one of the same key":    {resigned(func(p []byte) []byte { q := slices.Clone(p); q[200]++; return append(q, p...) }), "", "the signature is invalid"},
		"a number that the key cannot fit": {resigned(longer), "", "damaged"},
	} {
		t.Run(situation, func(t *testing.T) {
			t.Parallel()
			o := &oldRepositories{dir: t.TempDir(), now: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)}
			if err := os.CopyFS(o.dir, os.DirFS("testdata/v3")); err != nil {
				t.Fatal(err)
			}
			test.arrange(t, o)
			s := newServer(t, o.dir)
			repository := func(kind string) *Repository {
				return &Repository{URL: s.URL + "/" + kind, Keys: []string{oldKey}, Now: func() time.Time { return o.now }}
			}
			debs, err := repository("deb").Debs(t.Context(), names)
			expect(t, versions(debs), []string{"kubeadm 1.36.3-1.1 amd64"}, err, test.deb)
			rpms, err := repository("rpm").Rpms(t.Context(), names)
			expect(t, versions(rpms), []string{"kubeadm 1.36.3-150500.1.1 x86_64"}, err, test.rpm)
		})
	}
}

func resigned(change func([]byte) []byte) func(*testing.T, *oldRepositories) {
	return func(t *testing.T, o *oldRepositories) { t.Helper(); o.resign(t, change) }
}

// longer makes the number longer than the key.
func longer(p []byte) []byte {
	p = append(p, make([]byte, 64)...)
	p[1], p[2] = byte((len(p)-3)>>8), byte(len(p)-3)
	bits := (len(p) - 3 - oldHeadSize - 2) * 8
	p[3+oldHeadSize], p[3+oldHeadSize+1] = byte(bits>>8), byte(bits)
	return p
}

func (o *oldRepositories) useKey(t *testing.T, key []byte) {
	t.Helper()
	write(t, o.path("deb/Release.key"), key)
	write(t, o.path("rpm/repodata/repomd.xml.key"), key)
}

func expect(t *testing.T, got, want []string, err error, problem string) {
	t.Helper()
	switch {
	case problem != "" && (err == nil || !strings.Contains(err.Error(), problem)):
		t.Errorf("error %v instead of %q", err, problem)
	case problem == "" && (err != nil || !slices.Equal(got, want)):
		t.Errorf("%v %v", got, err)
	}
}

// No changed byte of a document or its signature of version 3 may lead to another text.
func TestMutationsOfSignaturesOfVersion3(t *testing.T) {
	t.Parallel()
	all, err := openpgp.ReadArmoredKeyRing(bytes.NewReader(read(t, "testdata/v3/deb/Release.key")))
	if err != nil {
		t.Fatal(err)
	}
	keys := &keyring{keys: all, now: func() time.Time { return time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC) }}
	inRelease, document, signature := read(t, "testdata/v3/deb/InRelease"), read(t, "testdata/v3/rpm/repodata/repomd.xml"),
		read(t, "testdata/v3/rpm/repodata/repomd.xml.asc")
	text, err := keys.open("InRelease", inRelease)
	if err != nil || keys.check("repomd.xml", document, signature) != nil {
		t.Fatal(err)
	}
	for _, bit := range []byte{0x01, 0x20, 0x80} {
		for i := range inRelease {
			if got, err := keys.open("InRelease", flipped(inRelease, i, bit)); err == nil && !bytes.Equal(got, text) {
				t.Errorf("byte %d of InRelease: accepted %q", i, got)
			}
		}
		for i := range document {
			if keys.check("repomd.xml", flipped(document, i, bit), signature) == nil {
				t.Errorf("byte %d of repomd.xml: accepted", i)
			}
		}
		for i := range signature { // a change outside of the packet may be accepted
			_ = keys.check("repomd.xml", document, flipped(signature, i, bit))
		}
	}
}

func flipped(text []byte, i int, bit byte) []byte {
	out := slices.Clone(text)
	out[i] ^= bit
	return out
}
