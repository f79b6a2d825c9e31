package artifact

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/form"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Components are the components of a ClusterRelease, whose signature is verified.
type Components struct {
	// List is in the order of the payload: of several versions of a component, the last one is the
	// target.
	List []refitv1alpha1.ReleaseComponent
	// Form is nil if there is none.
	Form *refitv1alpha1.ComponentForm
	// Digest is the digest of the payload.
	Digest string
	// KeyID is the key that signed it.
	KeyID string
}

// valuesField is the field of a component whose content is free: the values of its chart.
const valuesField = "values"

// SignComponents validates the components of a ClusterRelease and returns their signed envelope.
func SignComponents(p refitv1alpha1.ComponentsPayload, key ed25519.PrivateKey) ([]byte, error) {
	content, err := EncodeComponents(p)
	if err != nil {
		return nil, err
	}
	out, err := seal(refitv1alpha1.ComponentsPayloadType, content, key)
	if err != nil {
		return nil, err
	}
	if len(out) > MaxEnvelope {
		return nil, fmt.Errorf("the signed components have %d bytes, more than the %d that fit into an object: shorten their values and recipes",
			len(out), MaxEnvelope)
	}
	return out, nil
}

// EncodeComponents returns the payload that SignComponents signs. It accepts nothing that
// VerifyComponents refuses.
func EncodeComponents(p refitv1alpha1.ComponentsPayload) ([]byte, error) {
	var content bytes.Buffer
	encoder := json.NewEncoder(&content)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(p); err != nil {
		return nil, fmt.Errorf("cannot encode the components: %w", err)
	}
	text := bytes.TrimSpace(content.Bytes())
	if _, err := ParseComponents(text); err != nil {
		return nil, fmt.Errorf("the components are invalid: %w", err)
	}
	return text, nil
}

// VerifyComponents opens an envelope that one of the keys has signed, and validates the components
// in it. It refuses those of another ClusterRelease, which is identified by its digest. It does not
// parse the payload before its signature is verified.
func VerifyComponents(raw []byte, release string, keys []PublicKey) (Components, error) {
	if len(keys) == 0 {
		return Components{}, noKeys("there is no key to verify components with")
	}
	e, content, err := open(raw, areComponents)
	if err != nil {
		return Components{}, badComponents(err, "cannot read the components of the ClusterRelease")
	}
	key, ok := signer(e, content, keys)
	if !ok {
		return Components{}, node.ManualIntervention("ComponentsNotTrusted", nil,
			"Sign the ClusterRelease with a key that is pinned in the cluster, or pin the public key of its signer: `refit install --release-key FILE`",
			"the components of the ClusterRelease are not signed by a trusted key (%s)", keyHint(e.Signatures))
	}
	payload, err := componentsOf(content, release)
	if err != nil {
		return Components{}, badComponents(err, "the components of the ClusterRelease are signed, but invalid")
	}
	return Components{List: payload.Components, Form: payload.Form, Digest: digestOf(content), KeyID: key.ID}, nil
}

// UnverifiedComponents opens an envelope without verifying its signature, to show its content.
// KeyID is what the envelope claims.
func UnverifiedComponents(raw []byte, release string) (Components, error) {
	e, content, err := open(raw, areComponents)
	if err != nil {
		return Components{}, err
	}
	payload, err := componentsOf(content, release)
	if err != nil {
		return Components{}, err
	}
	return Components{List: payload.Components, Form: payload.Form, Digest: digestOf(content), KeyID: e.Signatures[0].KeyID}, nil
}

// ParseComponents parses and validates a payload.
func ParseComponents(content []byte) (refitv1alpha1.ComponentsPayload, error) {
	var payload refitv1alpha1.ComponentsPayload
	if err := strictJSON(content, &payload, valuesField); err != nil {
		return refitv1alpha1.ComponentsPayload{}, err
	}
	for i := range payload.Components {
		// Integers stay integers: Helm renders a large float as 1e+06.
		if err := utiljson.ConvertMapNumbers(payload.Components[i].Values, 0); err != nil {
			return refitv1alpha1.ComponentsPayload{}, fmt.Errorf("components[%d].values: %w", i, err)
		}
	}
	if err := form.DecodeDefaults(payload.Form); err != nil {
		return refitv1alpha1.ComponentsPayload{}, err
	}
	if err := ValidateComponents(payload); err != nil {
		return refitv1alpha1.ComponentsPayload{}, err
	}
	return payload, nil
}

func componentsOf(content []byte, release string) (refitv1alpha1.ComponentsPayload, error) {
	payload, err := ParseComponents(content)
	if err == nil && payload.Release != release {
		err = fmt.Errorf("they belong to the ClusterRelease with the digest %s, not to %s", payload.Release, release)
	}
	return payload, err
}

func areComponents(payloadType string) error {
	if payloadType != refitv1alpha1.ComponentsPayloadType {
		return errors.New("not components (" + refitv1alpha1.ComponentsPayloadType + ")")
	}
	return nil
}

func badComponents(err error, what string) error {
	return node.ManualIntervention("ComponentsInvalid", err,
		"Create and sign the ClusterRelease again (`refit release create --components FILE`) with the version of Refit in the cluster", "%s", what)
}
