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

// MaxEnvelope is the most bytes that an envelope may have: as base64 it must fit into a ClusterRelease's spec.envelope.
const MaxEnvelope = 262144 / 4 * 3

// mostSignatures is how many signatures of one envelope are looked at.
const mostSignatures = 16

// envelope is a DSSE envelope (https://github.com/secure-systems-lab/dsse).
type envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     string      `json:"payload"`
	Signatures  []signature `json:"signatures"`
}

// signature is one signature of an envelope. Its key id is a hint that nobody signed.
type signature struct {
	KeyID string `json:"keyid"`
	Sig   string `json:"sig"`
}

// Sign wraps a payload into an envelope, byte for byte.
func Sign(payload []byte, key ed25519.PrivateKey) ([]byte, error) {
	if len(key) != ed25519.PrivateKeySize {
		return nil, errors.New("the private key has the wrong size")
	}
	out, err := json.Marshal(envelope{
		PayloadType: refitv1alpha1.ReleasePayloadType,
		Payload:     base64.StdEncoding.EncodeToString(payload),
		Signatures: []signature{{
			KeyID: PublicOf(key).ID,
			Sig:   base64.StdEncoding.EncodeToString(ed25519.Sign(key, signedText(refitv1alpha1.ReleasePayloadType, payload))),
		}},
	})
	if err != nil {
		return nil, fmt.Errorf("write the envelope: %w", err)
	}
	if len(out) > MaxEnvelope {
		return nil, fmt.Errorf("the signed ClusterRelease has %d bytes, more than the %d that fit into an object: make one for fewer platforms", len(out), MaxEnvelope)
	}
	return out, nil
}

// Verify opens an envelope that one of the keys has signed, and refuses whatever is not exactly as a ClusterRelease has to be. Nothing of the payload is read before
// its signature was found good.
func Verify(raw []byte, keys []PublicKey) (Release, error) {
	if len(keys) == 0 {
		return Release{}, noKeys("no key that ClusterReleases are verified with is known")
	}
	content, signatures, err := open(raw)
	if err != nil {
		return Release{}, badRelease(err, "the ClusterRelease cannot be read")
	}
	key, ok := signer(content, signatures, keys)
	if !ok {
		return Release{}, node.ManualIntervention("ReleaseNotTrusted", nil,
			"sign it with a key that the hosts know, or put the public key of who signed it onto the hosts",
			"the ClusterRelease is not signed by a key that is known here (%s)", said(signatures))
	}
	payload, err := ParsePayload(content)
	if err != nil {
		return Release{}, badRelease(err, "the ClusterRelease is signed, but not as it has to be")
	}
	return Release{Payload: payload, Digest: digestOf(content), KeyID: key.ID}, nil
}

// Unverified opens an envelope without asking who signed it, to show what is in it. The KeyID is what the envelope claims.
func Unverified(raw []byte) (Release, error) {
	content, signatures, err := open(raw)
	if err != nil {
		return Release{}, err
	}
	payload, err := ParsePayload(content)
	if err != nil {
		return Release{}, err
	}
	return Release{Payload: payload, Digest: digestOf(content), KeyID: signatures[0].KeyID}, nil
}

// ParsePayload reads and validates a payload.
func ParsePayload(content []byte) (refitv1alpha1.ReleasePayload, error) {
	var payload refitv1alpha1.ReleasePayload
	if err := strictJSON(content, &payload); err != nil {
		return payload, err
	}
	return payload, ValidatePayload(payload)
}

// open takes an envelope apart.
func open(raw []byte) ([]byte, []signature, error) {
	if len(raw) > MaxEnvelope {
		return nil, nil, fmt.Errorf("its envelope has %d bytes, more than %d", len(raw), MaxEnvelope)
	}
	var e envelope
	if err := strictJSON(raw, &e); err != nil {
		return nil, nil, fmt.Errorf("its envelope: %w", err)
	}
	switch {
	case e.PayloadType != refitv1alpha1.ReleasePayloadType:
		return nil, nil, fmt.Errorf("its envelope holds %s, not a ClusterRelease (%s)", strconv.QuoteToASCII(refitv1alpha1.Clip(e.PayloadType, 80)),
			refitv1alpha1.ReleasePayloadType)
	case len(e.Signatures) == 0:
		return nil, nil, errors.New("its envelope is not signed")
	case len(e.Signatures) > mostSignatures:
		return nil, nil, fmt.Errorf("its envelope has %d signatures, more than %d", len(e.Signatures), mostSignatures)
	}
	content, err := base64.StdEncoding.Strict().DecodeString(e.Payload)
	if err != nil {
		return nil, nil, errors.New("its envelope's payload is no base64")
	}
	return content, e.Signatures, nil
}

// signer finds the key that signed a payload. Key ids are not trusted: every key is tried.
func signer(payload []byte, signatures []signature, keys []PublicKey) (PublicKey, bool) {
	text := signedText(refitv1alpha1.ReleasePayloadType, payload)
	for _, s := range signatures {
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

// signedText is what is signed: DSSE's pre-authentication encoding, which binds the type to the payload.
func signedText(payloadType string, payload []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(payload), payload)
}

// said tells which key an envelope names, as a hint for a person.
func said(signatures []signature) string {
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
	return node.ManualIntervention("ReleaseInvalid", err, "make the ClusterRelease again (refit release create, then sign) with a Refit of the hosts' version", "%s", what)
}

func noKeys(format string, args ...any) error {
	return node.ManualIntervention("NoReleaseKeys", nil, "put the public key of who signs your Releases onto the host, as a .pem file", format, args...)
}
