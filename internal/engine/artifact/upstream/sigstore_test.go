package upstream

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/testing/data"
	"github.com/sigstore/sigstore-go/pkg/verify"

	"github.com/refit-dev/refit/internal/engine/artifact/upstream/upstreamtest"
)

const (
	kubelet   = "/release/v1.36.3/bin/linux/amd64/kubelet"
	etcdName  = "registry.k8s.io/etcd"
	etcdIndex = `{"manifests":[]}`
)

var (
	releaser = upstreamtest.Signer{Account: BinarySigner, Issuer: SignerIssuer}
	promoter = upstreamtest.Signer{Account: ImageSigner, Issuer: SignerIssuer}
)

// downloads is a server like dl.k8s.io with one signed binary.
type downloads struct {
	*server
	t        *testing.T
	sigstore *upstreamtest.Sigstore
	client   Sigstore
	signed   upstreamtest.Signature
}

func newDownloads(t *testing.T) *downloads {
	t.Helper()
	instance := upstreamtest.New(t)
	d := &downloads{server: newServer(t, t.TempDir()), t: t, sigstore: instance, client: Sigstore{Trust: instance.Trust(), Log: instance.URL}}
	write(t, filepath.Join(d.dir, kubelet), []byte("kubelet"))
	d.sign(releaser, "kubelet")
	return d
}

// sign publishes a signature of content beside the binary.
func (d *downloads) sign(by upstreamtest.Signer, content string) {
	d.t.Helper()
	d.signed = d.sigstore.Sign(by, []byte(content))
	d.publish(".sig", d.signed.Sig())
	d.publish(".cert", d.signed.Cert())
}

// bundle publishes a bundle beside the binary instead.
func (d *downloads) bundle(by upstreamtest.Signer, content string) {
	d.t.Helper()
	d.remove(".sig", ".cert")
	d.publish(".sigstore.json", d.sigstore.Bundle(d.sigstore.Sign(by, []byte(content))))
}

func (d *downloads) publish(extension string, content []byte) {
	d.t.Helper()
	write(d.t, filepath.Join(d.dir, kubelet+extension), content)
}

func (d *downloads) remove(extensions ...string) {
	d.t.Helper()
	for _, extension := range extensions {
		if err := os.Remove(filepath.Join(d.dir, kubelet+extension)); err != nil {
			d.t.Fatal(err)
		}
	}
}

func (d *downloads) prove(ctx context.Context) error {
	return d.client.Binary(ctx, d.URL+kubelet, digestOf([]byte("kubelet")))
}

// logAnswers replaces the transparency log by one with an answer.
func (d *downloads) logAnswers(answer http.HandlerFunc) {
	d.t.Helper()
	log := httptest.NewServer(answer)
	d.t.Cleanup(log.Close)
	d.client.Log = log.URL
}

// edit changes a JSON document.
func edit[T any](t *testing.T, document []byte, change func(*T)) []byte {
	t.Helper()
	var parsed T
	if err := json.Unmarshal(document, &parsed); err != nil {
		t.Fatal(err)
	}
	change(&parsed)
	out, err := json.Marshal(parsed)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

type jsonObject = map[string]any

func TestSignedBinaries(t *testing.T) {
	for situation, arrange := range map[string]func(*downloads){
		"as on dl.k8s.io":            func(*downloads) {},
		"a certificate in PEM":       func(d *downloads) { d.publish(".cert", d.signed.PEM()) },
		"a signature with a newline": func(d *downloads) { d.publish(".sig", append(d.signed.Sig(), '\n')) },
		"a bundle without the log":   func(d *downloads) { d.bundle(releaser, "kubelet"); d.sigstore.Close() },
		"a bundle and the files, without the log": func(d *downloads) {
			d.publish(".sigstore.json", d.sigstore.Bundle(d.signed))
			d.sigstore.Close()
		},
		"the log has a second, foreign entry": func(d *downloads) {
			foreign := upstreamtest.New(d.t).Sign(releaser, []byte("kubelet"))
			d.logAnswers(content([]byte(strings.TrimSuffix(string(foreign.Answer(d.t)), "]") + "," + strings.TrimPrefix(string(d.signed.Answer(d.t)), "["))))
		},
		"a server that returns 403 for missing files": func(d *downloads) {
			d.answers[kubelet+".sigstore.json"] = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }
		},
	} {
		t.Run(situation, func(t *testing.T) {
			d := newDownloads(t)
			arrange(d)
			if err := d.prove(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestUnprovenBinaries(t *testing.T) {
	other := func(change func(*upstreamtest.Signer)) upstreamtest.Signer { s := releaser; change(&s); return s }
	stranger := other(func(s *upstreamtest.Signer) { s.Account = "somebody@example.com" })
	elsewhere := other(func(s *upstreamtest.Signer) { s.Issuer = "https://github.com/login/oauth" })
	unlogged := other(func(s *upstreamtest.Signer) { s.Unlogged = true })
	late := other(func(s *upstreamtest.Signer) { s.After = 11 * time.Minute })
	early := other(func(s *upstreamtest.Signer) { s.After = -time.Minute })
	for situation, c := range map[string]struct {
		arrange func(*downloads)
		want    string
	}{
		"another account":                {func(d *downloads) { d.sign(stranger, "kubelet") }, "expected SAN value"},
		"the account of images":          {func(d *downloads) { d.sign(promoter, "kubelet") }, "expected SAN value"},
		"another issuer":                 {func(d *downloads) { d.sign(elsewhere, "kubelet") }, "expected issuer"},
		"signature of another file":      {func(d *downloads) { d.sign(releaser, "kubeadm") }, "no entry of it"},
		"no entry in the log":            {func(d *downloads) { d.sign(unlogged, "kubelet") }, "no entry of it"},
		"an entry of another file":       {func(d *downloads) { d.logAnswers(content(d.otherEntry())) }, "does not match"},
		"an entry too late":              {func(d *downloads) { d.sign(late, "kubelet") }, "outside certificate validity"},
		"an entry too early":             {func(d *downloads) { d.sign(early, "kubelet") }, "outside certificate validity"},
		"another trust root":             {func(d *downloads) { d.client.Trust = upstreamtest.New(d.t).Trust() }, "not enough verified log entries"},
		"the public trust root":          {func(d *downloads) { d.client.Trust = nil }, "not enough verified log entries"},
		"a log of another instance":      {func(d *downloads) { d.logAnswers(content(d.foreignEntry())) }, "not enough verified log entries"},
		"a changed time":                 {func(d *downloads) { d.logAnswers(content(d.laterEntry())) }, "not enough verified log entries"},
		"a certificate not logged":       {func(d *downloads) { d.client.Trust = d.sigstore.LoggingTrust() }, "signed certificate timestamp"},
		"no signature":                   {func(d *downloads) { d.remove(".sig") }, "it has no signature"},
		"no certificate":                 {func(d *downloads) { d.remove(".cert") }, "it has no signature"},
		"no transparency log":            {func(d *downloads) { d.client.Log = "http://127.0.0.1:1" }, "in the transparency log: cannot reach"},
		"a log with a fault":             {func(d *downloads) { d.logAnswers(http.NotFound) }, "status 404"},
		"a log without JSON":             {func(d *downloads) { d.logAnswers(content([]byte("<html>"))) }, "cannot read the response"},
		"an endless log":                 {func(d *downloads) { d.logAnswers(endless) }, "is larger than"},
		"too many entries":               {func(d *downloads) { d.logAnswers(content(d.manyEntries())) }, "more than 16 entries"},
		"a page as a signature":          {func(d *downloads) { d.publish(".sig", []byte("<html>")) }, "cannot read"},
		"a page as a certificate":        {func(d *downloads) { d.publish(".cert", []byte("<html>")) }, "not one certificate"},
		"half a signature":               {func(d *downloads) { d.publish(".sig", d.signed.Sig()[:40]) }, "no entry of it"},
		"half a certificate":             {func(d *downloads) { d.publish(".cert", d.signed.Cert()[:400]) }, "not one certificate"},
		"a chain of certificates":        {func(d *downloads) { d.publish(".cert", append(d.signed.PEM(), d.signed.PEM()...)) }, "not one certificate"},
		"an endless signature":           {func(d *downloads) { d.answers[kubelet+".sig"] = endless }, "is larger than"},
		"an endless certificate":         {func(d *downloads) { d.answers[kubelet+".cert"] = endless }, "is larger than"},
		"a cut signature":                {func(d *downloads) { d.answers[kubelet+".sig"] = cut(d.signed.Sig()) }, "unexpected EOF"},
		"a bundle of a stranger":         {func(d *downloads) { d.bundle(stranger, "kubelet") }, "expected SAN value"},
		"a bundle of another issuer":     {func(d *downloads) { d.bundle(elsewhere, "kubelet") }, "expected issuer"},
		"a bundle of another file":       {func(d *downloads) { d.bundle(releaser, "kubeadm") }, "does not match digest"},
		"a bundle that is too late":      {func(d *downloads) { d.bundle(late, "kubelet") }, "outside certificate validity"},
		"a bundle without an entry":      {func(d *downloads) { d.bundleWithout("tlogEntries") }, "not enough verified log entries"},
		"a bundle without a certificate": {func(d *downloads) { d.bundleWithout("certificate") }, "missing verification material"},
		"a bundle without a time": {func(d *downloads) {
			d.bundleEntry(func(entry jsonObject) { delete(entry, "inclusionPromise") })
		}, "threshold not met"},
		"a bundle with the digest of the file and a signature of another": {func(d *downloads) {
			signed := d.sigstore.Sign(releaser, []byte("kubeadm"))
			d.remove(".sig", ".cert")
			d.publish(".sigstore.json", edit(d.t, d.sigstore.Bundle(signed), func(b *jsonObject) {
				sum := mustDecode(d.t, digestOf([]byte("kubelet")))
				(*b)["messageSignature"].(jsonObject)["messageDigest"].(jsonObject)["digest"] = base64.StdEncoding.EncodeToString(sum)
			}))
		}, "does not match artifact"},
		"an attestation": {func(d *downloads) {
			d.remove(".sig", ".cert")
			d.publish(".sigstore.json", realBundle(d.t))
			d.client.Trust = nil
		}, "not the signature of a file"},
		"half a bundle": {func(d *downloads) {
			d.bundle(releaser, "kubelet")
			d.publish(".sigstore.json", read(d.t, filepath.Join(d.dir, kubelet+".sigstore.json"))[:700])
		}, "cannot read its signature"},
		"a wrong bundle beside right files": {func(d *downloads) { d.publish(".sigstore.json", []byte("{}")) }, "cannot read its signature"},
		"an endless bundle":                 {func(d *downloads) { d.answers[kubelet+".sigstore.json"] = endless }, "is larger than"},
		"a server with a fault": {func(d *downloads) {
			d.answers[kubelet+".sigstore.json"] = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }
		}, "status 502"},
	} {
		t.Run(situation, func(t *testing.T) {
			d := newDownloads(t)
			c.arrange(d)
			if err := d.prove(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q in it", err, c.want)
			}
		})
	}
}

func mustDecode(t *testing.T, digest string) []byte {
	t.Helper()
	sum, err := hex.DecodeString(strings.TrimPrefix(digest, "sha256:"))
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func (d *downloads) otherEntry() []byte {
	d.t.Helper()
	other := d.sigstore.Sign(releaser, []byte("kubeadm"))
	return other.Answer(d.t)
}

// foreignEntry is an entry of the signature in the log of another instance.
func (d *downloads) foreignEntry() []byte {
	d.t.Helper()
	foreign := upstreamtest.New(d.t).Sign(releaser, []byte("kubelet"))
	return foreign.Answer(d.t)
}

func (d *downloads) laterEntry() []byte {
	d.t.Helper()
	later := d.signed
	later.Entry.IntegratedTime++
	return later.Answer(d.t)
}

func (d *downloads) manyEntries() []byte {
	d.t.Helper()
	one := strings.Trim(string(d.signed.Answer(d.t)), "[]")
	return []byte("[" + strings.TrimSuffix(strings.Repeat(one+",", maxLogEntries+1), ",") + "]")
}

func (d *downloads) bundleWithout(field string) {
	d.t.Helper()
	d.bundle(releaser, "kubelet")
	d.publish(".sigstore.json", edit(d.t, read(d.t, filepath.Join(d.dir, kubelet+".sigstore.json")), func(b *jsonObject) {
		delete((*b)["verificationMaterial"].(jsonObject), field)
	}))
}

func (d *downloads) bundleEntry(change func(jsonObject)) {
	d.t.Helper()
	d.bundle(releaser, "kubelet")
	d.publish(".sigstore.json", edit(d.t, read(d.t, filepath.Join(d.dir, kubelet+".sigstore.json")), func(b *jsonObject) {
		change((*b)["verificationMaterial"].(jsonObject)["tlogEntries"].([]any)[0].(jsonObject))
	}))
}

// A proof that is missing has another remedy than one of other content.
func TestMissingProofsAreReported(t *testing.T) {
	d := newDownloads(t)
	d.remove(".sig")
	err := d.prove(t.Context())
	if got, ok := errors.AsType[*UnprovenError](err); !ok || !got.Missing || got.Content != d.URL+kubelet {
		t.Errorf("%v", err)
	}
	d.sign(promoter, "kubelet")
	err = d.prove(t.Context())
	if got, ok := errors.AsType[*UnprovenError](err); !ok || got.Missing {
		t.Errorf("%v", err)
	}
	if err := d.client.Binary(t.Context(), d.URL+kubelet, "sha512:00"); err == nil || !strings.Contains(err.Error(), "is not a SHA-256 digest") {
		t.Errorf("%v", err)
	}
}

func TestSignaturesAreNotReadOffTLS(t *testing.T) {
	d := newDownloads(t)
	secure := httptest.NewTLSServer(http.RedirectHandler(d.URL+kubelet+".sig", http.StatusTemporaryRedirect))
	defer secure.Close()
	client.Transport = secure.Client().Transport
	defer func() { client.Transport = nil }()
	err := d.client.Binary(t.Context(), secure.URL+kubelet, digestOf([]byte("kubelet")))
	if err == nil || !strings.Contains(err.Error(), "redirected away from https") {
		t.Errorf("%v", err)
	}
	d.client.Log = secure.URL
	if err := d.prove(t.Context()); err == nil || !strings.Contains(err.Error(), "redirected away from https") {
		t.Errorf("%v", err)
	}
}

func TestProofsEndWithTheirContext(t *testing.T) {
	d := newDownloads(t)
	ctx, cancel := context.WithCancel(t.Context())
	d.logAnswers(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // or the server does not notice that the client has gone
		cancel()
		<-r.Context().Done()
	})
	if err := d.prove(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if client.Timeout <= 0 || client.Timeout > time.Minute {
		t.Errorf("a request has a timeout of %s", client.Timeout)
	}
}

// realBundle is an attestation that was signed with sigstore's public instance.
func realBundle(t *testing.T) []byte {
	t.Helper()
	out, err := data.Bundle(t, "sigstore.js@2.0.0-provenance.sigstore.json").MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The embedded trust root verifies what the public instance has signed, with the same options as
// for content of upstream.
func TestEmbeddedTrustRootIsThatOfThePublicInstance(t *testing.T) {
	verifier, err := (&Sigstore{}).verifier()
	if err != nil {
		t.Fatal(err)
	}
	var signed bundle.Bundle
	if err := signed.UnmarshalJSON(realBundle(t)); err != nil {
		t.Fatal(err)
	}
	identity, err := verify.NewShortCertificateIdentity("https://token.actions.githubusercontent.com", "", "", "^https://github.com/sigstore/sigstore-js/")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := verifier.Verify(&signed, verify.NewPolicy(verify.WithoutArtifactUnsafe(), verify.WithCertificateIdentity(identity))); err != nil {
		t.Error(err)
	}
}
