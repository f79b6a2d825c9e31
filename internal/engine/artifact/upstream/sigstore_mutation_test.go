package upstream

import (
	"bytes"
	"crypto/elliptic"
	"encoding/asn1"
	"encoding/base64"
	"encoding/hex"
	"math/big"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/engine/artifact/upstream/upstreamtest"
)

// signatureMutations is the number of mutations of each part of each kind of signature.
const signatureMutations = 50

// parts are the parts of a signature that a hostile mirror can change.
var parts = []struct {
	name string
	of   func(*upstreamtest.Signature) *[]byte
}{
	{"signature", func(s *upstreamtest.Signature) *[]byte { return &s.Content }},
	{"certificate", func(s *upstreamtest.Signature) *[]byte { return &s.Certificate }},
	{"entry", func(s *upstreamtest.Signature) *[]byte { return &s.Body }},
	{"timestamp", func(s *upstreamtest.Signature) *[]byte { return &s.Timestamp }},
}

// TestMutatedSignatures changes one part of a signature at a time, in each of the ways in which
// upstream and mirrors publish it. Every bit of these parts matters: none may be accepted.
func TestMutatedSignatures(t *testing.T) {
	d, i := newDownloads(t), newImages(t)
	statement := upstreamtest.Statement(t, etcdName, i.digest)
	image := i.sigstore.Sign(promoter, statement)
	ways := []struct {
		name   string
		signed upstreamtest.Signature
		prove  func(upstreamtest.Signature) error
	}{
		{"files and log", d.signed, func(s upstreamtest.Signature) error {
			d.answers = map[string]http.HandlerFunc{kubelet + ".sig": content(s.Sig()), kubelet + ".cert": content(s.Cert())}
			d.logAnswers(content(s.Answer(t)))
			return d.prove(t.Context())
		}},
		{"bundle", d.signed, func(s upstreamtest.Signature) error {
			d.answers = map[string]http.HandlerFunc{kubelet + ".sigstore.json": content(d.sigstore.Bundle(s))}
			return d.prove(t.Context())
		}},
		{"image", image, func(s upstreamtest.Signature) error {
			i.publish(s.Layer(t))
			return i.prove(t.Context())
		}},
	}
	random := rand.New(rand.NewPCG(20, 26))
	total, accepted := 0, 0
	for _, way := range ways {
		if err := way.prove(way.signed); err != nil {
			t.Fatalf("%s: the unchanged signature: %v", way.name, err)
		}
		for _, part := range parts {
			for n := range signatureMutations {
				changed := way.signed
				after, how := mutation(random, *part.of(&changed))
				*part.of(&changed) = after
				changed.Entry.Body = base64.StdEncoding.EncodeToString(changed.Body)
				total++
				if err := way.prove(changed); err == nil {
					accepted++
					t.Errorf("%s: mutation %d of the %s was accepted: %s", way.name, n, part.name, how)
				}
			}
		}
		for n := range signatureMutations {
			changed := way.signed
			switch n % 3 {
			case 0:
				changed.Entry.IntegratedTime += 1 + random.Int64N(60)
			case 1:
				changed.Entry.LogIndex += 1 + random.Int64N(1000)
			case 2:
				id, _ := mutation(random, mustDecode(t, changed.Entry.LogID))
				changed.Entry.LogID = hex.EncodeToString(id)
			}
			total++
			if err := way.prove(changed); err == nil {
				accepted++
				t.Errorf("%s: mutation %d of the numbers of the entry was accepted", way.name, n)
			}
		}
	}
	i.publish(image.Layer(t))
	for n := range 4 * signatureMutations {
		after, how := mutation(random, statement)
		i.documents["blobs/"+digestOf(statement)] = after
		total++
		if err := i.prove(t.Context()); err == nil {
			accepted++
			t.Errorf("mutation %d of the statement was accepted: %s", n, how)
		}
	}
	t.Logf("figure upstream_signature_mutations %d mutations", total)
	t.Logf("figure upstream_signature_mutations_accepted %d mutations", accepted)
}

// TestMutatedSignatureDocuments changes whole documents. A change outside of the signature, such as
// a space, may have no effect; none may prove another file or crash.
func TestMutatedSignatureDocuments(t *testing.T) {
	d, i := newDownloads(t), newImages(t)
	d.publish(".sigstore.json", d.sigstore.Bundle(d.signed))
	other := digestOf([]byte("another"))
	random := rand.New(rand.NewPCG(16, 1))
	inert := 0
	const each = 100
	for _, extension := range []string{".sig", ".cert", ".sigstore.json"} {
		before := read(t, filepath.Join(d.dir, kubelet+extension))
		for range each {
			after, how := mutation(random, before)
			d.answers = map[string]http.HandlerFunc{kubelet + extension: content(after)}
			if extension != ".sigstore.json" {
				d.answers[kubelet+".sigstore.json"] = http.NotFound
			}
			if d.prove(t.Context()) == nil {
				inert++
			}
			if d.client.Binary(t.Context(), d.URL+kubelet, other) == nil {
				t.Errorf("%s proves another file: %s", extension, how)
			}
		}
	}
	manifest := i.documents[i.tag()]
	for range each {
		after, how := mutation(random, manifest)
		i.documents[i.tag()] = after
		i.documents["manifests/"+strings.Replace(other, ":", "-", 1)+".sig"] = after
		if i.prove(t.Context()) == nil {
			inert++
		}
		if i.client.Image(t.Context(), etcdName, other, i.fetch) == nil || i.client.Image(t.Context(), "registry.k8s.io/pause", i.digest, i.fetch) == nil {
			t.Errorf("a manifest proves another image: %s", how)
		}
	}
	t.Logf("%d of %d mutations had no effect", inert, 4*each)
}

// A signature in ECDSA can be changed into a second valid one. The log has signed the first.
func TestOtherEncodingOfASignature(t *testing.T) {
	d := newDownloads(t)
	twin := d.signed
	twin.Content = malleated(t, d.signed.Content)
	if bytes.Equal(twin.Content, d.signed.Content) {
		t.Fatal("the signature is not another one")
	}
	d.publish(".sig", twin.Sig())
	d.logAnswers(content(d.signed.Answer(t)))
	if err := d.prove(t.Context()); err == nil || !strings.Contains(err.Error(), "signature does not match") {
		t.Errorf("%v", err)
	}
}

// malleated returns the second valid signature: the negative of S.
func malleated(t *testing.T, signed []byte) []byte {
	t.Helper()
	var numbers struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(signed, &numbers); err != nil {
		t.Fatal(err)
	}
	numbers.S.Sub(elliptic.P256().Params().N, numbers.S)
	out, err := asn1.Marshal(numbers)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
