package steps

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	apijson "k8s.io/apimachinery/pkg/util/json" // with integers, as Helm reads them
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/components/offer"
	"github.com/refit-dev/refit/internal/engine/crd"
	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/engine/object"
)

// labelSaved is on each Secret with saved content; its value is the component.
const labelSaved = "refit.dev/saved"

// The keys of a Secret with saved content.
const (
	keySaved = "saved.json.gz"
	keyCRDs  = "crds.json.gz"
)

// maxSaved bounds what the content of a Secret expands to.
const maxSaved = 32 << 20

// saved is what the steps after the check and a rollback need. It is in a Secret, because values
// can be secret.
type saved struct {
	Component refitv1alpha1.ReleaseComponent `json:"component"`
	From      string                         `json:"from,omitempty"`
	Values    map[string]any                 `json:"values,omitempty"`
	// Hidden are the texts of those values that come from Secrets.
	Hidden       []string          `json:"hidden,omitempty"`
	Capabilities helm.Capabilities `json:"capabilities"`
	// Revision is what the waves start from and a rollback returns to. It has no CRDs.
	Revision int `json:"revision,omitempty"`
	// Adopt is set if the deployed revision must be adopted.
	Adopt     bool       `json:"adopt,omitempty"`
	Deletions []helm.Ref `json:"deletions,omitempty"`
	Created   []helm.Ref `json:"created,omitempty"`
	// Existed are those of Created that exist before the upgrade: a rollback does not delete them.
	Existed []helm.Identity `json:"existed,omitempty"`
	// Patched and Recreated are by step: the values before it, and the objects before it. Written
	// are the values of patches, and Deleting are the objects that were deleted last.
	Patched   map[string]map[types.UID]any `json:"patched,omitempty"`
	Written   map[string]string            `json:"written,omitempty"`
	Recreated map[string][]object.Identity `json:"recreated,omitempty"`
	Deleting  map[string]types.UID         `json:"deleting,omitempty"`

	crds *crd.Saved
	// stored is the Secret as it was read, nil for new content.
	stored *corev1.Secret
}

// SavedName returns the name of the Secret of a journal.
func SavedName(owner *refitv1alpha1.ComponentUpgrade) string {
	return fmt.Sprintf("refit-saved-%s-%d", owner.Name, owner.Status.Journal)
}

// SavedComponent returns the signed content of a journal, as it was saved. It is false if nothing
// was saved.
func SavedComponent(ctx context.Context, c client.Client, owner *refitv1alpha1.ComponentUpgrade) (refitv1alpha1.ReleaseComponent, bool, error) {
	s, err := readSaved(ctx, c, owner)
	if err != nil || s == nil {
		return refitv1alpha1.ReleaseComponent{}, false, err
	}
	return s.Component, true, nil
}

// readSaved returns the saved content of a journal, nil if there is none.
func readSaved(ctx context.Context, c client.Client, owner *refitv1alpha1.ComponentUpgrade) (*saved, error) {
	if owner.Status.Saved == "" {
		return nil, nil
	}
	var secret corev1.Secret
	if err := c.Get(ctx, client.ObjectKey{Namespace: offer.Namespace, Name: owner.Status.Saved}, &secret); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, manual("SavedContentMissing", err, "Restore the Secret from a backup, then run `refit retry`",
				"the Secret %s/%s, which a rollback needs, was deleted", offer.Namespace, owner.Status.Saved)
		}
		return nil, fmt.Errorf("cannot read the saved content: %w", err)
	}
	s := &saved{stored: &secret}
	content, err := unpack(secret.Data[keySaved])
	if err == nil {
		err = apijson.Unmarshal(content, s)
	}
	if err == nil {
		s.crds, err = crd.DecodeSaved(secret.Data[keyCRDs])
	}
	if err != nil {
		return nil, manual("SavedContentInvalid", err, "Restore the Secret from a backup, then run `refit retry`",
			"the Secret %s/%s cannot be read", offer.Namespace, owner.Status.Saved)
	}
	return s, nil
}

// write writes the saved content. It fails if somebody else wrote it since it was read.
func (s *saved) write(ctx context.Context, c client.Client, owner *refitv1alpha1.ComponentUpgrade) error {
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("cannot write the saved content: %w", err)
	}
	packed, err := pack(text)
	if err != nil {
		return fmt.Errorf("cannot write the saved content: %w", err)
	}
	crds, err := s.crds.Encode()
	if err != nil {
		return fmt.Errorf("cannot save the CRDs: %w", err)
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: offer.Namespace, Name: SavedName(owner), Labels: map[string]string{labelSaved: owner.Name},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: refitv1alpha1.GroupVersion.String(), Kind: "ComponentUpgrade", Name: owner.Name, UID: owner.UID,
			}},
		},
		Data: map[string][]byte{keySaved: packed, keyCRDs: crds},
	}
	if s.stored != nil {
		secret.ResourceVersion = s.stored.ResourceVersion
		err = c.Update(ctx, secret, client.FieldOwner(Manager))
	} else {
		err = c.Create(ctx, secret, client.FieldOwner(Manager))
		if apierrors.IsAlreadyExists(err) { // a killed process left it; nothing has changed since
			err = c.Update(ctx, secret, client.FieldOwner(Manager))
		}
	}
	if err != nil {
		return fmt.Errorf("cannot write the Secret %s/%s: %w", secret.Namespace, secret.Name, err)
	}
	s.stored = secret
	return nil
}

// deleteFormer deletes the saved content of former journals of the component.
func deleteFormer(ctx context.Context, c client.Client, owner *refitv1alpha1.ComponentUpgrade) error {
	var secrets metav1.PartialObjectMetadataList
	secrets.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	if err := c.List(ctx, &secrets, client.InNamespace(offer.Namespace), client.MatchingLabels{labelSaved: owner.Name}); err != nil {
		return fmt.Errorf("cannot list the saved content: %w", err)
	}
	for i := range secrets.Items {
		if secrets.Items[i].Name == SavedName(owner) {
			continue
		}
		if err := client.IgnoreNotFound(c.Delete(ctx, &secrets.Items[i])); err != nil {
			return fmt.Errorf("cannot delete the saved content %s: %w", secrets.Items[i].Name, err)
		}
	}
	return nil
}

func pack(text []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	err := w.Close()
	return out.Bytes(), err
}

func unpack(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(r, maxSaved+1))
	if err == nil && len(text) > maxSaved {
		err = errors.New("it is too large")
	}
	return text, err
}
