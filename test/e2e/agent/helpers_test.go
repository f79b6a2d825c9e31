//go:build e2e

package agent

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/test/e2e/bed"
)

// What is said so often that it is said without the package's name.
var (
	must     = bed.Must
	show     = bed.Show
	until    = bed.Until
	soon     = bed.Soon
	writeOn  = bed.WriteOn
	readOn   = bed.ReadOn
	mentions = bed.Mentions
	lines    = bed.Lines
)

const (
	older  = bed.Older
	newer  = bed.Newer
	newest = bed.Newest

	patience = bed.Patience
	recovery = bed.Recovery
	// fetching and changing are how long a node may take for its order.
	fetching = 4 * time.Minute
	changing = 8 * time.Minute
	// wayBack is how long a node that does not become healthy may take until it is the old one again, from the moment at which it broke.
	wayBack = 120 * time.Second
)

// diskSize is room for a node, the store, and the images of two versions.
const diskSize = 8 << 30

// setting is a duration from the environment, for those who want a test shorter or longer than it is.
func setting(t *testing.T, variable string, otherwise time.Duration) time.Duration {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	d, err := time.ParseDuration(text)
	must(t, err)
	return d
}

// figureName makes a name that figures may have.
func figureName(name string) string { return strings.ReplaceAll(name, "-", "_") }

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func atoi(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	must(t, err)
	return n
}
