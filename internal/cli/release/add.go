package release

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/artifact/charts"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// Releases are the ClusterReleases of a cluster: *operations.Cluster.
type Releases interface {
	Release(ctx context.Context, name string) (*refitv1alpha1.ClusterRelease, error)
	MayCreateRelease(ctx context.Context) error
	CreateRelease(ctx context.Context, release *refitv1alpha1.ClusterRelease) error
	// Objects returns a client for the charts of components.
	Objects() client.Client
}

// Installation is what is installed in a cluster: *install.Cluster.
type Installation interface {
	// PinnedKeys returns the public keys that the hosts trust, by the name of their file.
	PinnedKeys(ctx context.Context) (map[string]string, error)
}

// Addition creates a ClusterRelease, signs it and adds it to a cluster.
type Addition struct {
	Signer

	// Content returns the content as JSON, and writes a summary: Create of a Creation.
	Content func(ctx context.Context, log io.Writer) ([]byte, error)
	Log     io.Writer
	// Timeout bounds each exchange with the cluster, by default to a minute.
	Timeout time.Duration
	// Confirm prompts the user before the content is signed; nil: no prompt.
	Confirm func(ctx context.Context, question string) error
	// Changing is called before the cluster is changed; nil: no call.
	Changing func()
}

// Add adds the ClusterRelease. It fails before it reads any file if the key is not pinned or the
// user lacks the permission.
func (a *Addition) Add(ctx context.Context, cluster string, installed Installation, to Releases) (*cliv1alpha1.AddedRelease, error) {
	public, err := a.publicKey()
	if err != nil {
		return nil, err
	}
	keys, err := within(ctx, a.Timeout, func(ctx context.Context) ([]artifact.PublicKey, error) { return pinned(ctx, installed, public) })
	if err != nil {
		return nil, err
	}
	if _, err := within(ctx, a.Timeout, func(ctx context.Context) (any, error) { return nil, to.MayCreateRelease(ctx) }); err != nil {
		return nil, fmt.Errorf("cannot add a ClusterRelease: %w", err)
	}
	raw, err := a.Content(ctx, a.Log)
	if err != nil {
		return nil, err
	}
	content, err := parseContent(raw)
	if err != nil {
		return nil, err
	}
	payload := content.payload
	name := a.nameOf(&payload)
	result := cliv1alpha1.NewAddedRelease(cluster, name, payload.Kubernetes, public.ID)
	result.Existed, err = within(ctx, a.Timeout, func(ctx context.Context) (bool, error) { return has(ctx, to, name, content, keys) })
	if err != nil {
		return nil, err
	}
	if result.Existed { // a chart may be missing all the same
		return result, a.putCharts(ctx, to, sortedCharts(content.charts))
	}
	if a.Confirm != nil {
		opened := Opened{artifact.Release{Payload: payload}, content.components.Components, content.components.Form}
		shown := opened.document(name, cliv1alpha1.TrustUnsigned)
		if _, err := fmt.Fprintf(a.Log, "\n%s\n", text.Release(&shown)); err != nil {
			return nil, fmt.Errorf("cannot show the content: %w", err)
		}
		question := fmt.Sprintf("Sign this content with the key %s and add it to %s as %s? Its hosts can then install it.", public.ID, cluster, name)
		if err := a.Confirm(ctx, question); err != nil {
			return nil, err
		}
	}
	signed, err := a.Sign(ctx, "the new ClusterRelease", raw)
	if err != nil {
		return nil, err
	}
	if _, err := artifact.Verify(signed.Spec.Envelope, []artifact.PublicKey{public}); err != nil {
		return nil, fmt.Errorf("cannot add the ClusterRelease: the public key beside the private one is not its own, so hosts would refuse it: %w", err)
	}
	release := &refitv1alpha1.ClusterRelease{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: signed.Spec}
	if a.Changing != nil {
		a.Changing()
	}
	if err := a.putCharts(ctx, to, signed.Charts); err != nil {
		return nil, err
	}
	return within(ctx, a.Timeout, func(ctx context.Context) (*cliv1alpha1.AddedRelease, error) {
		if err := to.CreateRelease(ctx, release); err != nil {
			return nil, fmt.Errorf("cannot add the ClusterRelease: %w", err)
		}
		return result, nil
	})
}

// putCharts stores the charts of a ClusterRelease before the ClusterRelease itself.
func (a *Addition) putCharts(ctx context.Context, to Releases, archives [][]byte) error {
	for _, archive := range archives {
		if _, err := within(ctx, a.Timeout, func(ctx context.Context) (any, error) { return nil, charts.Put(ctx, to.Objects(), archive) }); err != nil {
			return fmt.Errorf("cannot add the ClusterRelease: %w", err)
		}
	}
	return nil
}

// within bounds an exchange with the cluster. Prompts and sources are not part of it.
func within[T any](ctx context.Context, timeout time.Duration, do func(context.Context) (T, error)) (T, error) {
	timeout = cmp.Or(timeout, time.Minute)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out, err := do(ctx)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = exit.TimeoutError{Err: fmt.Errorf("the API server did not respond within %s: %w", timeout, err)}
	}
	return out, err
}

// publicKey reads the public key beside the private one, which may need a passphrase.
func (s *Signer) publicKey() (artifact.PublicKey, error) {
	path, err := s.key()
	if err != nil {
		return artifact.PublicKey{}, err
	}
	raw, err := os.ReadFile(PublicKeyOf(path))
	if err != nil {
		if _, missing := os.Stat(path); missing != nil {
			return artifact.PublicKey{}, fmt.Errorf("cannot read the key: %w", missing)
		}
		return artifact.PublicKey{}, fmt.Errorf("cannot read the public key of %s: %w", path, err)
	}
	public, err := artifact.ParsePublic(raw)
	if err != nil {
		return artifact.PublicKey{}, fmt.Errorf("cannot read the public key in %s: %w", PublicKeyOf(path), err)
	}
	return public, nil
}

// notPinnedError is the error of a key that the hosts do not trust.
type notPinnedError struct{ error }

// pinned returns the keys whose signatures the hosts accept. It fails if the key is not one of
// them.
func pinned(ctx context.Context, installed Installation, public artifact.PublicKey) ([]artifact.PublicKey, error) {
	texts, err := installed.PinnedKeys(ctx)
	if err != nil {
		return nil, err
	}
	var keys []artifact.PublicKey
	var ids []string
	for _, pem := range texts {
		if key, err := artifact.ParsePublic([]byte(pem)); err == nil {
			keys, ids = append(keys, key), append(ids, key.ID)
		}
	}
	switch {
	case len(ids) == 0:
		return nil, notPinnedError{errors.New("cannot add a ClusterRelease: Refit is not installed, so no host would accept it. Run `refit install` first")}
	case !slices.Contains(ids, public.ID):
		slices.Sort(ids)
		return nil, notPinnedError{fmt.Errorf("cannot add a ClusterRelease: the hosts would refuse what the key %s signs: they accept %s. "+
			"Name one of these keys with --key, or pin this one, too: `refit install --release-key FILE` with each public key", public.ID, phrase.List(ids))}
	}
	return keys, nil
}

// has reports whether the cluster has a ClusterRelease with this content already that hosts accept.
// It fails if it has another one of this name, which is immutable.
func has(ctx context.Context, in Releases, name string, wanted *content, keys []artifact.PublicKey) (bool, error) {
	existing, err := in.Release(ctx, name)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	former, err := artifact.Verify(existing.Spec.Envelope, keys)
	var components artifact.Components
	if err == nil && existing.Spec.Components != nil {
		components, err = artifact.VerifyComponents(existing.Spec.Components, former.Digest, keys)
	}
	if err == nil && reflect.DeepEqual(former.Payload, wanted.payload) && existing.Spec.Kubernetes == wanted.payload.Kubernetes &&
		reflect.DeepEqual(components.List, wanted.components.Components) && reflect.DeepEqual(components.Form, wanted.components.Form) {
		return true, nil
	}
	problem := "other content"
	if err != nil {
		problem = "a signature that the hosts refuse"
	}
	return false, fmt.Errorf("cannot add the ClusterRelease: the cluster has %s with %s, and a ClusterRelease is immutable. "+
		"Choose another name with --name, and select it with `refit upgrade --release NAME`", name, problem)
}
