package upstream

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/engine/artifact/upstream/upstreamtest"
)

func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// images is the repository of one image.
type images struct {
	t         *testing.T
	sigstore  *upstreamtest.Sigstore
	client    Sigstore
	documents map[string][]byte // by kind and reference
	digest    string
}

func newImages(t *testing.T) *images {
	t.Helper()
	instance := upstreamtest.New(t)
	i := &images{
		t: t, sigstore: instance, client: Sigstore{Trust: instance.Trust(), Log: "http://127.0.0.1:1"},
		documents: map[string][]byte{}, digest: digestOf([]byte(etcdIndex)),
	}
	i.publish(i.sign(promoter, etcdName, i.digest))
	return i
}

// sign signs an image, and returns the layer with the signature.
func (i *images) sign(by upstreamtest.Signer, name, digest string) any {
	i.t.Helper()
	return i.signStatement(by, upstreamtest.Statement(i.t, name, digest))
}

func (i *images) signStatement(by upstreamtest.Signer, statement []byte) any {
	i.t.Helper()
	i.documents["blobs/"+digestOf(statement)] = statement
	signed := i.sigstore.Sign(by, statement)
	return signed.Layer(i.t)
}

func (i *images) publish(layers ...any) {
	i.t.Helper()
	i.documents[i.tag()] = upstreamtest.Manifest(i.t, layers...)
}

func (i *images) tag() string { return "manifests/" + strings.Replace(i.digest, ":", "-", 1) + ".sig" }

func (i *images) fetch(_ context.Context, kind, reference string, limit int64) ([]byte, error) {
	document, ok := i.documents[kind+"/"+reference]
	switch {
	case !ok:
		return nil, &StatusError{Address: kind + "/" + reference, Status: http.StatusNotFound}
	case int64(len(document)) > limit:
		return nil, errors.New("it is larger than the limit")
	}
	return document, nil
}

func (i *images) prove(ctx context.Context) error {
	return i.client.Image(ctx, etcdName, i.digest, i.fetch)
}

// annotated is a layer with another value of an annotation.
func (i *images) annotated(annotation string, change func(string) string) any {
	i.t.Helper()
	out := i.sign(promoter, etcdName, i.digest)
	annotations, ok := out.(jsonObject)["annotations"].(map[string]string)
	if !ok {
		i.t.Fatalf("%v has no annotations", out)
	}
	annotations[annotation] = change(annotations[annotation])
	return out
}

func none(string) string { return "" }

func half(text string) string { return text[:len(text)/2] }

func TestSignedImages(t *testing.T) {
	staging := upstreamtest.Signer{Account: BinarySigner, Issuer: SignerIssuer}
	for situation, arrange := range map[string]func(*images){
		"one signature": func(*images) {},
		"the signature of the build is first": func(i *images) {
			i.publish(i.sign(staging, "gcr.io/k8s-staging-etcd/etcd", i.digest), i.sign(promoter, etcdName, i.digest))
		},
		"several signatures, of which one is right": func(i *images) {
			i.publish(
				i.sign(staging, etcdName, i.digest), i.sign(promoter, "registry.k8s.io/pause", i.digest), i.annotated(entryAnnotation, none),
				i.sign(promoter, etcdName, i.digest), i.annotated(signatureAnnotation, half),
			)
		},
		"layers of another type": func(i *images) {
			i.publish(jsonObject{"mediaType": "application/vnd.oci.image.layer.v1.tar", "digest": "x"}, i.sign(promoter, etcdName, i.digest))
		},
	} {
		t.Run(situation, func(t *testing.T) {
			i := newImages(t)
			arrange(i)
			if err := i.prove(t.Context()); err != nil {
				t.Error(err)
			}
			if n := i.sigstore.Queries(); n != 0 {
				t.Errorf("%d queries of the transparency log", n)
			}
		})
	}
}

func TestUnprovenImages(t *testing.T) {
	staging := upstreamtest.Signer{Account: BinarySigner, Issuer: SignerIssuer}
	elsewhere := upstreamtest.Signer{Account: ImageSigner, Issuer: "https://example.com"}
	late := promoter
	late.After = time.Hour
	another := digestOf([]byte("another"))
	for situation, c := range map[string]struct {
		arrange func(*images)
		want    string
	}{
		"no tag with signatures":       {func(i *images) { delete(i.documents, i.tag()) }, "it has no signature"},
		"no signatures":                {func(i *images) { i.publish() }, "there is none"},
		"only other layers":            {func(i *images) { i.publish(jsonObject{"mediaType": "x", "digest": i.digest}) }, "there is none"},
		"the account of binaries":      {func(i *images) { i.publish(i.sign(staging, etcdName, i.digest)) }, "expected SAN value"},
		"another issuer":               {func(i *images) { i.publish(i.sign(elsewhere, etcdName, i.digest)) }, "expected issuer"},
		"another digest":               {func(i *images) { i.publish(i.sign(promoter, etcdName, another)) }, "signature of another digest"},
		"another repository":           {func(i *images) { i.publish(i.sign(promoter, "registry.k8s.io/pause", i.digest)) }, "signature of another image: registry.k8s.io/pause"},
		"a repository of the mirror":   {func(i *images) { i.publish(i.sign(promoter, "mirror.example/etcd", i.digest)) }, "signature of another image"},
		"a longer name":                {func(i *images) { i.publish(i.sign(promoter, etcdName+"-amd64", i.digest)) }, "signature of another image"},
		"a statement about no image":   {func(i *images) { i.publish(i.signStatement(promoter, []byte(`{"critical":{"type":"x"}}`))) }, "not the signature of an image"},
		"a statement that is no JSON":  {func(i *images) { i.publish(i.signStatement(promoter, []byte("x"))) }, "cannot read what is signed"},
		"another statement":            {func(i *images) { i.exchange() }, "does not match"},
		"an entry too late":            {func(i *images) { i.publish(i.sign(late, etcdName, i.digest)) }, "outside certificate validity"},
		"another trust root":           {func(i *images) { i.client.Trust = upstreamtest.New(i.t).Trust() }, "not enough verified log entries"},
		"the public trust root":        {func(i *images) { i.client.Trust = nil }, "not enough verified log entries"},
		"a certificate not logged":     {func(i *images) { i.client.Trust = i.sigstore.LoggingTrust() }, "signed certificate timestamp"},
		"no entry of the log":          {func(i *images) { i.publish(i.annotated(entryAnnotation, none)) }, "cannot read the entry"},
		"an empty entry":               {func(i *images) { i.publish(i.annotated(entryAnnotation, func(string) string { return "{}" })) }, "not a recognizable Rekor"},
		"half an entry":                {func(i *images) { i.publish(i.annotated(entryAnnotation, half)) }, "cannot read the entry"},
		"no signature in a layer":      {func(i *images) { i.publish(i.annotated(signatureAnnotation, none)) }, "does not match"},
		"no certificate":               {func(i *images) { i.publish(i.annotated(certificateAnnotation, none)) }, "cannot read the certificate"},
		"half a certificate":           {func(i *images) { i.publish(i.annotated(certificateAnnotation, half)) }, "cannot read the certificate"},
		"no statement":                 {func(i *images) { i.dropBlobs() }, "status 404"},
		"a path instead of a digest":   {func(i *images) { i.publish(jsonObject{"mediaType": payloadType, "digest": "../../x"}) }, "is not a SHA-256 digest"},
		"a manifest that is no JSON":   {func(i *images) { i.documents[i.tag()] = []byte("<html>") }, "cannot read its signatures"},
		"half a manifest":              {func(i *images) { i.documents[i.tag()] = i.documents[i.tag()][:300] }, "cannot read its signatures"},
		"a manifest that is too large": {func(i *images) { i.documents[i.tag()] = make([]byte, maxSignatureLayers+1) }, "larger than the limit"},
		"a statement that is too large": {func(i *images) {
			i.publish(i.signStatement(promoter, make([]byte, maxSignature+1)))
		}, "larger than the limit"},
		"too many signatures": {func(i *images) {
			layers := make([]any, maxSignatures+1)
			for n := range layers {
				layers[n] = jsonObject{"mediaType": payloadType}
			}
			i.publish(layers...)
		}, "more than 64 signatures"},
	} {
		t.Run(situation, func(t *testing.T) {
			i := newImages(t)
			c.arrange(i)
			err := i.prove(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q in it", err, c.want)
			}
		})
	}
}

// exchange replaces a signed statement by another one.
func (i *images) exchange() {
	i.t.Helper()
	layer := i.sign(promoter, "registry.k8s.io/pause", i.digest)
	other := upstreamtest.Statement(i.t, etcdName, i.digest)
	object, ok := layer.(jsonObject)
	if !ok {
		i.t.Fatalf("%T is not a layer", layer)
	}
	object["digest"] = digestOf(other)
	i.documents["blobs/"+digestOf(other)] = other
	i.publish(layer)
}

func (i *images) dropBlobs() {
	for key := range i.documents {
		if strings.HasPrefix(key, "blobs/") {
			delete(i.documents, key)
		}
	}
}

func TestRegistryThatFailsIsNoForgery(t *testing.T) {
	i := newImages(t)
	i.publish(i.sign(promoter, "registry.k8s.io/pause", i.digest), i.sign(promoter, etcdName, i.digest), i.sign(promoter, etcdName, i.digest))
	blobs := 0
	err := i.client.Image(t.Context(), etcdName, i.digest, func(ctx context.Context, kind, reference string, limit int64) ([]byte, error) {
		if kind == "blobs" {
			blobs++
			return nil, &StatusError{Address: reference, Status: http.StatusServiceUnavailable}
		}
		return i.fetch(ctx, kind, reference, limit)
	})
	if _, forged := errors.AsType[*UnprovenError](err); err == nil || forged || blobs != 1 {
		t.Errorf("after %d tries: %v", blobs, err)
	}
}
