package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/install"
	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/server/access"
	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/server/problem"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

// PutRelease adds a signed ClusterRelease with the credentials of the caller.
func (s *Server) PutRelease(ctx context.Context, r api.PutReleaseRequestObject) (api.PutReleaseResponseObject, error) {
	if err := request.ValidateName(r.Name); err != nil {
		return nil, invalid("#/name", err.Error())
	}
	content, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	spec, err := readRelease(content, r.Name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	c := callerOf(ctx)
	signed, _, trust, err := s.openRelease(ctx, c.Principal, &spec)
	if err != nil {
		return nil, err
	}
	c.detail = signed.Digest + " " + signed.KeyID
	own, err := s.callers.of(c.Principal)
	if err != nil {
		return nil, err
	}
	existed, err := createRelease(ctx, own, r.Name, spec)
	if err != nil {
		return nil, err
	}
	out := api.AddedRelease{
		Name: r.Name, Kubernetes: spec.Kubernetes, Digest: signed.Digest, KeyID: signed.KeyID, Trust: api.AddedReleaseTrust(trust), Existed: existed,
	}
	if existed {
		return api.PutRelease200JSONResponse(out), nil
	}
	return api.PutRelease201JSONResponse(out), nil
}

// readRelease reads a ClusterRelease, or its envelope alone, as `refit release sign` writes them.
func readRelease(content []byte, name string) (spec refitv1alpha1.ClusterReleaseSpec, err error) {
	documents := bytes.Split(append([]byte("\n"), content...), []byte("\n---"))
	var only []byte
	for _, document := range documents {
		if len(bytes.TrimSpace(document)) == 0 {
			continue
		}
		if only != nil {
			return spec, problem.New(http.StatusUnprocessableEntity, problem.Invalid, "The body has several objects, such as the charts of components.").
				With("Add the ClusterRelease with `kubectl apply -f FILE`")
		}
		only = document
	}
	var kind struct {
		Kind        string `json:"kind"`
		PayloadType string `json:"payloadType"`
	}
	if err := yaml.Unmarshal(only, &kind); err != nil {
		return spec, invalidField("#", "is neither YAML nor JSON")
	}
	switch {
	case kind.PayloadType != "":
		return refitv1alpha1.ClusterReleaseSpec{Envelope: bytes.TrimSpace(only)}, nil
	case kind.Kind != "ClusterRelease":
		return spec, invalidField("#/kind", "must be ClusterRelease; use the output of `refit release sign`")
	}
	release := &refitv1alpha1.ClusterRelease{}
	if err := yaml.UnmarshalStrict(only, release); err != nil {
		return spec, invalidField("#", err.Error())
	}
	if release.Name != "" && release.Name != name {
		return spec, invalidField("#/metadata/name", fmt.Sprintf("is %q, and the path has %q", release.Name, name))
	}
	return release.Spec, nil
}

// openRelease verifies the signature with the keys that the hosts accept, if the caller may read
// them, and completes the spec. The hosts verify it again.
func (s *Server) openRelease(
	ctx context.Context, p access.Principal, spec *refitv1alpha1.ClusterReleaseSpec,
) (signed artifact.Release, components artifact.Components, trust string, err error) {
	keys, err := s.hostKeys(ctx, p)
	switch {
	case err != nil:
		return signed, components, "", err
	case len(keys) == 0:
		trust = cliv1alpha1.TrustUnverified
		if signed, err = artifact.Unverified(spec.Envelope); err == nil && spec.Components != nil {
			components, err = artifact.UnverifiedComponents(spec.Components, signed.Digest)
		}
	default:
		trust = cliv1alpha1.TrustVerified
		if signed, err = artifact.Verify(spec.Envelope, keys); err == nil && spec.Components != nil {
			components, err = artifact.VerifyComponents(spec.Components, signed.Digest, keys)
		}
	}
	if err != nil {
		return signed, components, "", problem.Newf(http.StatusUnprocessableEntity, problem.BadSignature, "%s.", sentence(err)).
			With("Sign the ClusterRelease with a key that the hosts accept: `refit release sign FILE --key KEY`")
	}
	if spec.Kubernetes != "" && spec.Kubernetes != signed.Payload.Kubernetes {
		return signed, components, "", invalidField("#/spec/kubernetes",
			fmt.Sprintf("is %q, but the signed content has %q", spec.Kubernetes, signed.Payload.Kubernetes))
	}
	spec.Kubernetes = signed.Payload.Kubernetes
	return signed, components, trust, nil
}

// hostKeys returns the keys that the hosts accept, none if the caller may not read them.
func (s *Server) hostKeys(ctx context.Context, p access.Principal) ([]artifact.PublicKey, error) {
	installed, err := install.New(s.callers.config(p))
	if err != nil {
		return nil, err
	}
	texts, err := installed.PinnedKeys(ctx)
	if apierrors.IsForbidden(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var keys []artifact.PublicKey
	for _, text := range texts {
		if key, err := artifact.ParsePublic([]byte(text)); err == nil {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// createRelease creates a ClusterRelease, unless one with the same content exists.
func createRelease(ctx context.Context, c *operations.Cluster, name string, spec refitv1alpha1.ClusterReleaseSpec) (existed bool, err error) {
	err = c.CreateRelease(ctx, &refitv1alpha1.ClusterRelease{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec})
	if !apierrors.IsAlreadyExists(err) {
		return false, err
	}
	existing, err := c.Release(ctx, name)
	if err != nil {
		return false, err
	}
	if !bytes.Equal(existing.Spec.Envelope, spec.Envelope) || !bytes.Equal(existing.Spec.Components, spec.Components) {
		return false, problem.Newf(http.StatusConflict, problem.Conflict, "The cluster has a ClusterRelease %s with other content, and it is immutable.", name).
			With("Choose another name, and select it in the target of the upgrade")
	}
	return true, nil
}
