package release

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/engine/artifact"
)

// SignFile signs the payload in a file, or on standard input.
func SignFile(file string, readFile func(name string) ([]byte, error), keyFile, name string) (*cliv1alpha1.ReleaseManifest, error) {
	raw, err := readFile(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read the content of the ClusterRelease: %w", err)
	}
	return Sign(file, raw, keyFile, name)
}

// Sign signs the payload in a file of this name and returns the ClusterRelease object.
func Sign(file string, raw []byte, keyFile, name string) (*cliv1alpha1.ReleaseManifest, error) {
	if signed, err := Read(file, raw); err == nil && signed.envelope != nil {
		return nil, fmt.Errorf("cannot sign %s: it is signed already. Use the output of `refit release create`", file)
	}
	payload, err := artifact.ParsePayload(raw)
	if err != nil {
		return nil, fmt.Errorf("cannot sign %s: %w", file, err)
	}
	if len(payload.Files) == 0 {
		return nil, fmt.Errorf("cannot sign %s: it has no files, so no host could install it. Create it with `refit release create`", file)
	}
	if name == "" {
		name = "kubernetes-" + payload.Kubernetes
	}
	if wrong := validation.IsDNS1123Subdomain(name); len(wrong) > 0 || len(name) > validation.DNS1123LabelMaxLength {
		return nil, exit.Usagef("--name: %q is not a valid name. Use at most 63 lower case letters, digits, dots and dashes", name)
	}
	key, err := readPrivateKey(keyFile)
	if err != nil {
		return nil, err
	}
	compact, err := json.Marshal(payload)
	if err != nil {
		return nil, fmt.Errorf("cannot encode the ClusterRelease: %w", err)
	}
	envelope, err := artifact.Sign(compact, key)
	if err != nil {
		return nil, err
	}
	return cliv1alpha1.NewReleaseManifest(name, refitv1alpha1.ClusterReleaseSpec{Kubernetes: payload.Kubernetes, Envelope: envelope}), nil
}
