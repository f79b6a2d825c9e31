package artifact

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// MaxEnvelope is the maximum size of an envelope: as base64 it must fit into spec.envelope of a
// ClusterRelease.
const MaxEnvelope = 262144 / 4 * 3

// maxSignatures is the maximum number of signatures of an envelope.
const maxSignatures = 16

// envelope is a DSSE envelope (https://github.com/secure-systems-lab/dsse).
type envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     string      `json:"payload"`
	Signatures  []signature `json:"signatures"`
}

// signature is one signature of an envelope. The key ID is only a hint: it is not signed.
type signature struct {
	KeyID string `json:"keyid"`
	Sig   string `json:"sig"`
}

// Sign returns an envelope with a payload, unchanged, and its signature. Its type is that of the
// lowest version that carries the payload, so that older agents read it if they can.
func Sign(payload []byte, key ed25519.PrivateKey) ([]byte, error) {
	out, err := seal(refitv1alpha1.PayloadType(versionOf(payload)), payload, key)
	if err != nil {
		return nil, err
	}
	if len(out) > MaxEnvelope {
		return nil, fmt.Errorf("the signed ClusterRelease has %d bytes, more than the %d that fit into an object: create one for fewer platforms",
			len(out), MaxEnvelope)
	}
	return out, nil
}

// seal returns an envelope with a payload, unchanged, and its signature.
func seal(payloadType string, payload []byte, key ed25519.PrivateKey) ([]byte, error) {
	if len(key) != ed25519.PrivateKeySize {
		return nil, errors.New("the private key has the wrong size")
	}
	out, err := json.Marshal(envelope{
		PayloadType: payloadType,
		Payload:     base64.StdEncoding.EncodeToString(payload),
		Signatures: []signature{{
			KeyID: PublicOf(key).ID,
			Sig:   base64.StdEncoding.EncodeToString(ed25519.Sign(key, signedText(payloadType, payload))),
		}},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot write the envelope: %w", err)
	}
	return out, nil
}

// versionOf returns the version of a payload, which is validated when the envelope is read.
func versionOf(payload []byte) int32 {
	var p refitv1alpha1.ReleasePayload
	if err := json.Unmarshal(payload, &p); err != nil {
		return refitv1alpha1.MinPayloadVersion
	}
	return p.Version()
}

// Verify opens an envelope that one of the keys has signed and validates its payload. It does not
// parse the payload before its signature is verified.
func Verify(raw []byte, keys []PublicKey) (Release, error) {
	if len(keys) == 0 {
		return Release{}, noKeys("there is no key to verify ClusterReleases with")
	}
	e, content, err := open(raw, isRelease)
	if err != nil {
		return Release{}, badRelease(err, "cannot read the ClusterRelease")
	}
	key, ok := signer(e, content, keys)
	if !ok {
		return Release{}, node.ManualIntervention("ReleaseNotTrusted", nil,
			"Sign it with a key that the hosts trust, or install the public key of its signer on the hosts",
			"the ClusterRelease is not signed by a trusted key (%s)", keyHint(e.Signatures))
	}
	payload, err := e.parse(content)
	if err != nil {
		return Release{}, badRelease(err, "the ClusterRelease is signed, but invalid")
	}
	return Release{Payload: payload, Digest: digestOf(content), KeyID: key.ID}, nil
}

// Unverified opens an envelope without verifying its signature, to show its content. KeyID is what
// the envelope claims.
func Unverified(raw []byte) (Release, error) {
	e, content, err := open(raw, isRelease)
	if err != nil {
		return Release{}, err
	}
	payload, err := e.parse(content)
	if err != nil {
		return Release{}, err
	}
	return Release{Payload: payload, Digest: digestOf(content), KeyID: e.Signatures[0].KeyID}, nil
}

// parse parses and validates the payload. The type of the envelope is signed, too: preflight checks
// and older agents rely on the version in it.
func (e *envelope) parse(content []byte) (refitv1alpha1.ReleasePayload, error) {
	payload, err := ParsePayload(content)
	if needed := payload.Version(); err == nil && needed > refitv1alpha1.PayloadVersion(e.PayloadType) {
		err = fmt.Errorf("the payload needs version %d, but the envelope has type %s", needed, e.PayloadType)
	}
	return payload, err
}

// ParsePayload parses and validates a payload.
func ParsePayload(content []byte) (refitv1alpha1.ReleasePayload, error) {
	var payload refitv1alpha1.ReleasePayload
	// The names of feature gates are not those of fields.
	if err := strictJSON(content, &payload, "featureGates"); err != nil {
		return payload, err
	}
	return payload, ValidatePayload(payload)
}

// isRelease refuses the type of an envelope that does not contain a ClusterRelease.
func isRelease(payloadType string) error {
	if refitv1alpha1.PayloadVersion(payloadType) == 0 {
		return fmt.Errorf("not a ClusterRelease up to version %d (%s)",
			refitv1alpha1.MaxPayloadVersion, refitv1alpha1.PayloadType(refitv1alpha1.MaxPayloadVersion))
	}
	return nil
}

// open returns an envelope and its payload, if its type is accepted.
func open(raw []byte, accept func(payloadType string) error) (*envelope, []byte, error) {
	if len(raw) > MaxEnvelope {
		return nil, nil, fmt.Errorf("the envelope has %d bytes, more than %d", len(raw), MaxEnvelope)
	}
	var e envelope
	if err := strictJSON(raw, &e); err != nil {
		return nil, nil, fmt.Errorf("cannot parse the envelope: %w", err)
	}
	if err := accept(e.PayloadType); err != nil {
		return nil, nil, fmt.Errorf("the envelope contains %s, %w", strconv.QuoteToASCII(refitv1alpha1.Clip(e.PayloadType, 80)), err)
	}
	switch {
	case len(e.Signatures) == 0:
		return nil, nil, errors.New("the envelope is not signed")
	case len(e.Signatures) > maxSignatures:
		return nil, nil, fmt.Errorf("the envelope has %d signatures, more than %d", len(e.Signatures), maxSignatures)
	}
	content, err := base64.StdEncoding.Strict().DecodeString(e.Payload)
	if err != nil {
		return nil, nil, errors.New("the payload of the envelope is not base64")
	}
	return &e, content, nil
}

// signer returns the key that signed a payload. It tries every key: key IDs are not trusted.
func signer(e *envelope, payload []byte, keys []PublicKey) (PublicKey, bool) {
	text := signedText(e.PayloadType, payload)
	for _, s := range e.Signatures {
		raw, err := base64.StdEncoding.Strict().DecodeString(s.Sig)
		if err != nil || len(raw) != ed25519.SignatureSize {
			continue
		}
		for _, key := range keys {
			if len(key.Key) == ed25519.PublicKeySize && ed25519.Verify(key.Key, text, raw) {
				return key, true
			}
		}
	}
	return PublicKey{}, false
}

// signedText returns the signed text: the pre-authentication encoding of DSSE, which binds the type
// to the payload.
func signedText(payloadType string, payload []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(payload), payload)
}

// keyHint returns which key an envelope names.
func keyHint(signatures []signature) string {
	if signatures[0].KeyID == "" {
		return "it names none"
	}
	return "it names " + strconv.QuoteToASCII(refitv1alpha1.Clip(signatures[0].KeyID, 80))
}

func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func badRelease(err error, what string) error {
	return node.ManualIntervention("ReleaseInvalid", err,
		"Create and sign the ClusterRelease again (`refit release create`) with the version of Refit on the hosts, or upgrade the agents (`refit install`)",
		"%s", what)
}

// NoReleaseKeys is the reason of a host that trusts no key.
const NoReleaseKeys = "NoReleaseKeys"

func noKeys(format string, args ...any) error {
	return node.ManualIntervention(NoReleaseKeys, nil,
		"Pin the public key that signs your ClusterReleases: `refit install --release-key FILE`", format, args...)
}
