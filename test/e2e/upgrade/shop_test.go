//go:build e2e

package upgrade

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"testing"
	"text/template"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/testbed/versions"
)

//go:embed shop.yaml
var shopManifest string

var shopTemplate = template.Must(template.New("shop").Parse(shopManifest))

// bareMayEnd waives the finding about the shop's bare Pod, by name.
var bareMayEnd = refitv1alpha1.Waiver{Check: "UnmanagedPod", Object: "Pod shop/debug", Reason: "somebody looked into something"}

// deployShop runs a workload of several kinds and waits for it.
func (s *site) deployShop(t *testing.T) {
	t.Helper()
	_, err := s.Kubectl(t.Context(), bytes.NewReader(shopOf(t, s.Spec().Workers > 1, true)), "apply", "--filename=-")
	must(t, err)
	must(t, until(t.Context(), "the shop to open", checkTimeout, s.shopOpen))
}

// shopOf returns the shop's manifest, optionally with a PDB, which needs two nodes to run on, and a
// bare Pod.
func shopOf(t *testing.T, budget, bare bool) []byte {
	t.Helper()
	var manifest bytes.Buffer
	must(t, shopTemplate.Execute(&manifest, map[string]any{"Image": versions.BusyboxImage, "Budget": budget, "Bare": bare}))
	return manifest.Bytes()
}

// shopOpen returns an error if a part of the shop does not run. The bare Pod may be gone: nothing
// recreates it.
func (s *site) shopOpen(ctx context.Context) error {
	ctx, cancel := soon(ctx)
	defer cancel()
	apps := s.Client.AppsV1()
	cart, err := apps.Deployments("shop").Get(ctx, "cart", metav1.GetOptions{})
	if err != nil {
		return err
	}
	db, err := apps.StatefulSets("shop").Get(ctx, "db", metav1.GetOptions{})
	if err != nil {
		return err
	}
	logs, err := apps.DaemonSets("shop").Get(ctx, "logs", metav1.GetOptions{})
	if err != nil {
		return err
	}
	var errs []error
	for name, got := range map[string][2]int32{
		"Deployment cart": {cart.Status.ReadyReplicas, *cart.Spec.Replicas},
		"StatefulSet db":  {db.Status.ReadyReplicas, *db.Spec.Replicas},
		"DaemonSet logs":  {logs.Status.NumberReady, int32(len(s.Nodes()))},
	} {
		if got[0] != got[1] {
			errs = append(errs, fmt.Errorf("%s has %d of %d pods ready", name, got[0], got[1]))
		}
	}
	return errors.Join(errs...)
}
