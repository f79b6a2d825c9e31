package charts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
)

const (
	// Namespace is the namespace of the ConfigMaps, and of refit-components.
	Namespace = "refit-components"
	// Label is the label of the ConfigMaps. Its value is the part of the digest in their name.
	Label = "refit.dev/chart"
	// Key is the key of the chart in binaryData.
	Key = "chart.tgz"

	namePrefix  = "refit-chart-"
	digestChars = 40 // of a digest in a name: a label may have 63 characters
)

var (
	// ErrMissing is returned for a chart that the cluster does not have.
	ErrMissing = errors.New("the cluster does not have the chart")
	// ErrOther is returned for a ConfigMap that does not have the content that its name promises.
	ErrOther = errors.New("it has other content")
	// ErrNoNamespace is returned if the namespace of charts does not exist.
	ErrNoNamespace = errors.New("the namespace " + Namespace + " does not exist. Run `refit install --components` first")
)

// Name returns the name of the ConfigMap of the chart with a digest.
func Name(digest string) string { return namePrefix + short(digest) }

func short(digest string) string {
	_, hexadecimal, _ := strings.Cut(digest, ":")
	return hexadecimal[:min(len(hexadecimal), digestChars)]
}

// Identify returns the digest and the size of a packed chart.
func Identify(archive []byte) refitv1alpha1.ComponentChart {
	sum := sha256.Sum256(archive)
	return refitv1alpha1.ComponentChart{Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: int64(len(archive))}
}

// ConfigMap returns the ConfigMap of a packed chart.
func ConfigMap(archive []byte) (*corev1.ConfigMap, error) {
	if len(archive) == 0 || len(archive) > artifact.MaxChart {
		return nil, fmt.Errorf("cannot store a chart of %d bytes: it must have between 1 and %d", len(archive), artifact.MaxChart)
	}
	digest, immutable := Identify(archive).Digest, true
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: Name(digest), Labels: map[string]string{Label: short(digest)}},
		Immutable:  &immutable,
		BinaryData: map[string][]byte{Key: archive},
	}, nil
}

// Content returns the chart in a ConfigMap, if it has the digest and the size.
func Content(m *corev1.ConfigMap, chart refitv1alpha1.ComponentChart) ([]byte, error) {
	archive := m.BinaryData[Key]
	if int64(len(archive)) != chart.Size || chart.Size > artifact.MaxChart || Identify(archive) != chart {
		return nil, fmt.Errorf("ConfigMap %s/%s: %w than the chart %s of %d bytes", m.Namespace, m.Name, ErrOther, chart.Digest, chart.Size)
	}
	return archive, nil
}

// Put stores a packed chart. A ConfigMap with the same content is left alone, one with other
// content is an error.
func Put(ctx context.Context, c client.Client, archive []byte) error {
	wanted, err := ConfigMap(archive)
	if err != nil {
		return err
	}
	err = c.Create(ctx, wanted)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("cannot store the chart %s: %w", wanted.Name, ErrNoNamespace)
	case err != nil && !apierrors.IsAlreadyExists(err):
		return fmt.Errorf("cannot store the chart %s: %w", wanted.Name, err)
	case err == nil:
		return nil
	}
	if _, err := Get(ctx, c, Identify(archive)); err != nil {
		return fmt.Errorf("cannot store the chart: %w. To replace it, delete it first: `kubectl delete configmap -n %s %s`", err, Namespace, wanted.Name)
	}
	return nil
}

// Get returns a packed chart with this digest and size. The reader should have no cache, which
// would hold all charts.
func Get(ctx context.Context, c client.Reader, chart refitv1alpha1.ComponentChart) ([]byte, error) {
	found := &corev1.ConfigMap{}
	err := c.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: Name(chart.Digest)}, found)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("cannot read ConfigMap %s/%s: %w. Add the ClusterRelease again, with its charts", Namespace, Name(chart.Digest), ErrMissing)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the chart: %w", err)
	}
	return Content(found, chart)
}
