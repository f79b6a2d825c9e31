package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/artifact/charts"
)

// Opened is the content of a ClusterRelease and its components.
type Opened struct {
	artifact.Release
	Components []refitv1alpha1.ReleaseComponent
	Form       *refitv1alpha1.ComponentForm
}

// document returns the document about a ClusterRelease.
func (o *Opened) document(name, trust string) cliv1alpha1.ReleaseContent {
	return cliv1alpha1.ReleaseContent{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindReleaseContent,
		Name: name, Digest: o.Digest, KeyID: o.KeyID, Trust: trust, Content: o.Payload, Components: o.Components, Form: o.Form,
	}
}

// unsigned is the content of a ClusterRelease before it is signed, as `refit release create` writes
// it.
type unsigned struct {
	refitv1alpha1.ReleasePayload
	Components []refitv1alpha1.ReleaseComponent `json:"components,omitempty"`
	// Form is the form that users fill in.
	Form *refitv1alpha1.ComponentForm `json:"form,omitempty"`
	// Charts are the charts of the components, by their digest.
	Charts map[string][]byte `json:"charts,omitempty"`
}

// content is the parts of unsigned content, as they are signed.
type content struct {
	payload    refitv1alpha1.ReleasePayload
	encoded    []byte                          // the payload
	components refitv1alpha1.ComponentsPayload // names the digest of the encoded payload
	charts     map[string][]byte
}

// parseContent parses and validates unsigned content.
func parseContent(raw []byte) (*content, error) {
	rest, components, archives, err := splitContent(raw)
	if err != nil {
		return nil, err
	}
	c := &content{charts: archives}
	if c.payload, err = artifact.ParsePayload(rest); err != nil {
		return nil, err
	}
	if c.encoded, err = json.Marshal(c.payload); err != nil {
		return nil, fmt.Errorf("cannot encode the ClusterRelease: %w", err)
	}
	if components != nil {
		sum := sha256.Sum256(c.encoded)
		text := fmt.Appendf(nil, `{"release":"sha256:%s",%s}`, hex.EncodeToString(sum[:]), components)
		if c.components, err = artifact.ParseComponents(text); err != nil {
			return nil, fmt.Errorf("the components are invalid: %w", err)
		}
	}
	return c, hasCharts(c.charts, c.components.Components)
}

// splitContent returns the payload of unsigned content, the fields of its components, and its
// charts.
func splitContent(raw []byte) (rest, components []byte, archives map[string][]byte, err error) {
	fields, err := fieldsOf(raw)
	if fields["components"] == nil && fields["charts"] == nil && fields["form"] == nil {
		return raw, nil, nil, nil // the parser of the payload reports the error
	}
	if err != nil {
		return nil, nil, nil, err
	}
	for _, name := range []string{"components", "form"} {
		if field := fields[name]; field != nil {
			if components != nil {
				components = append(components, ',')
			}
			components = fmt.Appendf(components, "%q:%s", name, field)
			delete(fields, name)
		}
	}
	if text := fields["charts"]; text != nil {
		if err := json.Unmarshal(text, &archives); err != nil {
			return nil, nil, nil, fmt.Errorf("charts: %w", err)
		}
	}
	delete(fields, "charts")
	rest, err = json.Marshal(fields)
	return rest, components, archives, err
}

// fieldsOf returns the fields of a JSON object, each of which must occur once. With an error, it
// returns those before it.
func fieldsOf(raw []byte) (map[string]json.RawMessage, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	fields := map[string]json.RawMessage{}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return fields, err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return fields, err
		}
		key, _ := name.(string)
		if fields[key] != nil {
			return fields, fmt.Errorf("duplicate field %q", key)
		}
		fields[key] = value
	}
	if _, err := decoder.Token(); err != nil {
		return fields, err
	}
	if decoder.More() {
		return fields, errors.New("there is data after the document")
	}
	return fields, nil
}

// hasCharts fails unless the charts are exactly those of the components.
func hasCharts(archives map[string][]byte, components []refitv1alpha1.ReleaseComponent) error {
	wanted := map[string]bool{}
	for _, c := range components {
		archive, ok := archives[c.Chart.Digest]
		if !ok {
			return fmt.Errorf("the chart of %s %s is missing (%s)", c.Name, c.Version, c.Chart.Digest)
		}
		if charts.Identify(archive) != c.Chart {
			return fmt.Errorf("the chart of %s %s is not the one that its digest names", c.Name, c.Version)
		}
		wanted[c.Chart.Digest] = true
	}
	for digest := range archives {
		if !wanted[digest] {
			return fmt.Errorf("it has a chart that no component refers to (%s)", refitv1alpha1.Clip(digest, 80))
		}
	}
	return nil
}

// sortedCharts returns charts in the order of their digests.
func sortedCharts(archives map[string][]byte) (out [][]byte) {
	for _, digest := range slices.Sorted(maps.Keys(archives)) {
		out = append(out, archives[digest])
	}
	return out
}
