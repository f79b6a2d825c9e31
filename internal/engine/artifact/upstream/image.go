package upstream

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// The limits of the signatures of an image.
const (
	maxSignatures      = 64
	maxSignatureLayers = 1 << 20
)

// How cosign stores the signatures of an image: as layers with annotations.
const (
	payloadType           = "application/vnd.dev.cosign.simplesigning.v1+json"
	signatureAnnotation   = "dev.cosignproject.cosign/signature"
	certificateAnnotation = "dev.sigstore.cosign/certificate"
	entryAnnotation       = "dev.sigstore.cosign/bundle"
	imageStatement        = "cosign container image signature"
)

// Fetch reads a document of at most limit bytes from the repository of an image: of manifests by
// tag or digest, of blobs by digest.
type Fetch func(ctx context.Context, kind, reference string, limit int64) ([]byte, error)

// layer is a signature in the manifest of the signatures of an image.
type layer struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Annotations map[string]string `json:"annotations"`
}

// statement is what the signature of an image states.
type statement struct {
	Critical struct {
		Identity struct {
			Reference string `json:"docker-reference"`
		} `json:"identity"`
		Image struct {
			Digest string `json:"docker-manifest-digest"`
		} `json:"image"`
		Type string `json:"type"`
	} `json:"critical"`
}

// Image fails unless the Kubernetes project has published an image with this digest under a name,
// such as registry.k8s.io/etcd. A mirror may have the image and its signatures under other names.
//
// An image has several signatures: those of its build remain when it is published.
func (s *Sigstore) Image(ctx context.Context, name, digest string, fetch Fetch) error {
	content := name + "@" + digest
	if _, err := parseDigest(digest); err != nil {
		return err
	}
	raw, err := fetch(ctx, "manifests", strings.Replace(digest, ":", "-", 1)+".sig", maxSignatureLayers)
	switch {
	case missing(err):
		return unsigned(content)
	case err != nil:
		return err
	}
	var manifest struct {
		Layers []layer `json:"layers"`
	}
	if err := json.Unmarshal(raw, &manifest); err != nil {
		return unproven(content, "cannot read its signatures: %w", err)
	}
	if len(manifest.Layers) > maxSignatures {
		return unproven(content, "it has more than %d signatures", maxSignatures)
	}
	last := errors.New("there is none")
	for i := range manifest.Layers {
		if manifest.Layers[i].MediaType != payloadType {
			continue
		}
		var failed unreadError
		switch last = s.imageSignature(ctx, name, digest, &manifest.Layers[i], fetch); {
		case last == nil:
			return nil
		case errors.As(last, &failed): // a registry that fails proves nothing about the others
			return fmt.Errorf("cannot read the signatures of %s: %w", content, failed.error)
		}
	}
	return unproven(content, "none of its signatures is valid, the last one because: %w", last)
}

// unreadError is the error of a registry that did not return a signature it may have.
type unreadError struct{ error }

// imageSignature verifies one signature of an image.
func (s *Sigstore) imageSignature(ctx context.Context, name, digest string, l *layer, fetch Fetch) error {
	if _, err := parseDigest(l.Digest); err != nil {
		return err
	}
	signed, err := l.signature()
	if err != nil {
		return err
	}
	payload, err := fetch(ctx, "blobs", l.Digest, maxSignature)
	switch {
	case missing(err):
		return err
	case err != nil:
		return unreadError{err}
	}
	sum := sha256.Sum256(payload)
	complete, err := signed.bundle(sum[:])
	if err != nil {
		return err
	}
	if err := s.verify(complete, sum[:], ImageSigner); err != nil {
		return err
	}
	var what statement
	if err := json.Unmarshal(payload, &what); err != nil {
		return fmt.Errorf("cannot read what is signed: %w", err)
	}
	switch critical := what.Critical; {
	case critical.Type != imageStatement:
		return fmt.Errorf("it is not the signature of an image, but %q", critical.Type)
	case critical.Identity.Reference != name:
		return fmt.Errorf("it is the signature of another image: %s", critical.Identity.Reference)
	case critical.Image.Digest != digest:
		return fmt.Errorf("it is the signature of another digest: %s", critical.Image.Digest)
	}
	return nil
}

// signature parses the annotations of a signature.
func (l *layer) signature() (*signature, error) {
	content, err := base64.StdEncoding.DecodeString(l.Annotations[signatureAnnotation])
	if err != nil {
		return nil, fmt.Errorf("cannot read the signature: %w", err)
	}
	certificate, err := parseCertificate([]byte(l.Annotations[certificateAnnotation]))
	if err != nil {
		return nil, fmt.Errorf("cannot read the certificate of the signature: %w", err)
	}
	var logged struct {
		SignedEntryTimestamp []byte
		Payload              entry
	}
	if err := json.Unmarshal([]byte(l.Annotations[entryAnnotation]), &logged); err != nil {
		return nil, fmt.Errorf("cannot read the entry of the transparency log: %w", err)
	}
	return &signature{content: content, certificate: certificate, entry: logged.Payload, timestamp: logged.SignedEntryTimestamp}, nil
}
