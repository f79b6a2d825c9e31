//go:build e2e

package agent

import (
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/test/e2e/bed"
)

// Aliases for helpers that are used throughout the package.
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

	checkTimeout = bed.CheckTimeout
	recovery     = bed.Recovery
	// fetching and changing limit the time that a node may take for its order.
	fetching = 4 * time.Minute
	changing = 8 * time.Minute
	// wayBack limits the time from the failure of a node to its complete rollback.
	wayBack = 120 * time.Second
)

// diskSize has space for a node, the store, and the images of two versions.
const diskSize = 8 << 30

// figureName converts a name to one that is valid for a figure.
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
