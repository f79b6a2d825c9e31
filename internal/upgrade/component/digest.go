package component

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Approved is what the approval of a plan covers for one component.
type Approved struct {
	Action   Action                     `json:"action"`
	Name     string                     `json:"name"`
	From     string                     `json:"from,omitempty"`
	To       string                     `json:"to,omitempty"`
	Chart    string                     `json:"chart,omitempty"`
	Values   map[string]any             `json:"values,omitempty"`
	Recipe   []refitv1alpha1.RecipeStep `json:"recipe,omitempty"`
	Changes  []Change                   `json:"changes,omitempty"`
	Deletes  []Ref                      `json:"deletes,omitempty"`
	CRDs     []string                   `json:"crds,omitempty"` // the changes of CRDs, each in one line
	Schedule string                     `json:"schedule"`       // the place in the plan
}

// Digest returns the digest of what is approved. It is computed again on the day of the upgrade;
// another digest means that the plan has changed. With a key, nobody else can compute it: values
// may be secret and easy to guess.
func (a Approved) Digest(key []byte) (string, error) {
	content, err := json.Marshal(a) // keys of maps are sorted
	if err != nil {
		return "", fmt.Errorf("cannot hash component %s: %w", a.Name, err)
	}
	sum := sha256.New()
	if len(key) > 0 {
		sum = hmac.New(sha256.New, key)
	}
	_, _ = sum.Write(content) // a hash never fails
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}
