package upstream

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/sigstore/sigstore-go/pkg/bundle"
)

// The limits of signatures.
const (
	maxSignature  = 256 << 10
	maxLogAnswer  = 1 << 20
	maxLogEntries = 16
)

// The kind of entries of the transparency log that have a signature of a file.
const (
	entryKind    = "hashedrekord"
	entryVersion = "0.0.1"
)

// Binary fails unless the Kubernetes project has signed the file at an address, with this digest.
//
// Its signature is in a bundle beside the file, or in the files .sig and .cert and in the
// transparency log.
func (s *Sigstore) Binary(ctx context.Context, address, digest string) error {
	sum, err := parseDigest(digest)
	if err != nil {
		return err
	}
	raw, err := s.Web.Get(ctx, address+".sigstore.json", maxSignature)
	switch {
	case err == nil:
		return s.bundled(address, raw, sum)
	case !missing(err):
		return err
	}
	signed, err := s.detached(ctx, address)
	if err != nil {
		return err
	}
	return s.logged(ctx, address, signed, sum)
}

func parseDigest(digest string) ([]byte, error) {
	sum, known := strings.CutPrefix(digest, "sha256:")
	if !known || !hexPattern.MatchString(sum) {
		return nil, fmt.Errorf("%q is not a SHA-256 digest", digest)
	}
	return hex.DecodeString(sum)
}

// bundled proves a file by a bundle.
func (s *Sigstore) bundled(address string, raw, sum []byte) error {
	var signed bundle.Bundle
	if err := signed.UnmarshalJSON(raw); err != nil {
		return unproven(address, "cannot read its signature: %w", err)
	}
	if err := s.verify(&signed, sum, BinarySigner); err != nil {
		return unproven(address, "its signature is not valid: %w", err)
	}
	return nil
}

// detached reads the signature and the certificate beside a file.
func (s *Sigstore) detached(ctx context.Context, address string) (*signature, error) {
	var out signature
	for _, part := range []struct {
		name  string
		to    *[]byte
		parse func([]byte) ([]byte, error)
	}{
		{".sig", &out.content, parseSignature},
		{".cert", &out.certificate, parseCertificate},
	} {
		raw, err := s.Web.Get(ctx, address+part.name, maxSignature)
		switch {
		case missing(err):
			return nil, unsigned(address)
		case err != nil:
			return nil, err
		}
		if *part.to, err = part.parse(raw); err != nil {
			return nil, unproven(address, "cannot read %s: %w", address+part.name, err)
		}
	}
	return &out, nil
}

func parseSignature(raw []byte) ([]byte, error) {
	return base64.StdEncoding.DecodeString(string(bytes.TrimSpace(raw)))
}

// parseCertificate parses a certificate in PEM. cosign encodes it a second time.
func parseCertificate(raw []byte) ([]byte, error) {
	if text, err := parseSignature(raw); err == nil {
		raw = text
	}
	block, rest := pem.Decode(raw)
	if block == nil || block.Type != "CERTIFICATE" || len(bytes.TrimSpace(rest)) > 0 {
		return nil, errors.New("it is not one certificate in PEM")
	}
	if _, err := x509.ParseCertificate(block.Bytes); err != nil {
		return nil, err
	}
	return block.Bytes, nil
}

// logged finds the entry of a signature in the transparency log, and proves a file by both.
func (s *Sigstore) logged(ctx context.Context, address string, signed *signature, sum []byte) error {
	found, err := s.entries(ctx, signed, sum)
	if err != nil {
		return fmt.Errorf("cannot find the signature of %s in the transparency log: %w", address, err)
	}
	err = errors.New("the transparency log has no entry of it")
	for i := range found {
		signed.entry, signed.timestamp = found[i].entry, found[i].Verification.Timestamp
		var complete *bundle.Bundle
		if complete, err = signed.bundle(sum); err != nil {
			continue
		}
		if err = s.verify(complete, sum, BinarySigner); err == nil {
			return nil
		}
	}
	return unproven(address, "its signature is not valid: %w", err)
}

// logEntry is an entry of the transparency log with its signature.
type logEntry struct {
	entry
	Verification struct {
		Timestamp []byte `json:"signedEntryTimestamp"`
	} `json:"verification"`
}

// entries returns the entries of a signature in the transparency log, of which it may have several
// parts.
func (s *Sigstore) entries(ctx context.Context, signed *signature, sum []byte) ([]logEntry, error) {
	type object = map[string]any
	query, err := json.Marshal(object{"entries": []object{{"kind": entryKind, "apiVersion": entryVersion, "spec": object{
		"data": object{"hash": object{"algorithm": "sha256", "value": hex.EncodeToString(sum)}},
		"signature": object{
			"content":   signed.content,
			"publicKey": object{"content": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed.certificate})},
		},
	}}}})
	if err != nil {
		return nil, err
	}
	address := strings.TrimSuffix(s.log(), "/") + "/api/v1/log/entries/retrieve"
	raw, err := s.Web.Post(ctx, address, query, maxLogAnswer)
	if err != nil {
		return nil, err
	}
	var answer []map[string]logEntry // by their IDs
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, fmt.Errorf("cannot read the response of %s: %w", address, err)
	}
	var out []logEntry
	for _, entries := range answer {
		for _, found := range entries {
			out = append(out, found)
		}
	}
	if len(out) > maxLogEntries {
		return nil, fmt.Errorf("%s returned more than %d entries of one signature", address, maxLogEntries)
	}
	return out, nil
}
