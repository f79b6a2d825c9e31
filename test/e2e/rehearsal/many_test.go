//go:build e2e

package rehearsal

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/refit-dev/refit/test/e2e/bed"
)

// customResource is a CRD and one object of it.
const customResource = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: kind%[1]ds.many.example.com},
spec: {group: many.example.com, scope: Namespaced, names: {plural: kind%[1]ds, kind: Kind%[1]d}, versions: [{name: v1, served: true, storage: true,
schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}
---
`

const customObject = `{apiVersion: many.example.com/v1, kind: Kind%[1]d, metadata: {name: one, namespace: default}}
---
`

// TestBackupRehearsalOfManyObjects rehearses two hops on a cluster with REFIT_OBJECTS objects
// (50,000) and 100 CRDs, and prints how long each takes.
func TestBackupRehearsalOfManyObjects(t *testing.T) {
	s := newSite(t, "many", bed.Newer, bed.Newest)
	const crds = 100
	objects := bed.Count(t, "REFIT_OBJECTS", 50_000)
	s.applyMany(t, customResource, crds)
	bed.Must(t, bed.Until(t.Context(), "the custom resources", 2*time.Minute, func(ctx context.Context) error {
		_, err := s.Kubectl(ctx, strings.NewReader(repeat(customObject, crds)), "apply", "--filename=-")
		return err
	}))
	begun := time.Now()
	s.createObjects(t, objects)
	bed.Show(t, "rehearsal_many_create", time.Since(begun).Seconds(), "s")
	s.backUp(t)
	live := s.live(t)
	got, err := s.rehearse(t)
	bed.Must(t, err)
	bed.Show(t, "rehearsal_many_total", got.Took.Seconds(), "s")
	if len(got.Hops) != 2 {
		t.Fatalf("%d hops ran: %+v", len(got.Hops), got.Hops)
	}
	for i, hop := range got.Hops {
		version := strings.ReplaceAll(s.targets[i], ".", "_")
		bed.Show(t, "rehearsal_many_"+version, hop.Took.Seconds(), "s")
		bed.Show(t, "rehearsal_many_objects_"+version, float64(hop.Report.Objects), "objects")
		if len(hop.Findings) > 0 || hop.Report.Objects < int64(objects+crds) || hop.Report.Listed < crds+50 {
			t.Errorf("%s: %+v", s.targets[i], hop)
		}
	}
	if now := s.live(t); now != live {
		t.Errorf("the live cluster changed:\n%s\nbefore:\n%s", now, live)
	}
	s.nothingLeft(t)
}

func repeat(format string, n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, format, i)
	}
	return out.String()
}

func (s *site) applyMany(t *testing.T, format string, n int) {
	t.Helper()
	_, err := s.Kubectl(t.Context(), strings.NewReader(repeat(format, n)), "apply", "--filename=-")
	bed.Must(t, err)
}

// createObjects creates Secrets and ConfigMaps of 1 KiB in turn.
func (s *site) createObjects(t *testing.T, n int) {
	t.Helper()
	config, err := s.RESTConfig()
	bed.Must(t, err)
	config.QPS, config.Burst = 2000, 2000
	client, err := kubernetes.NewForConfig(config)
	bed.Must(t, err)
	_, err = client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "many"}}, metav1.CreateOptions{})
	bed.Must(t, err)
	text := strings.Repeat("refit is ", 110)
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(32)
	for i := range n {
		name := metav1.ObjectMeta{Name: fmt.Sprintf("object-%06d", i), Namespace: "many"}
		group.Go(func() error {
			if i%2 == 0 {
				_, err := client.CoreV1().Secrets("many").Create(ctx, &corev1.Secret{ObjectMeta: name, StringData: map[string]string{"text": text}}, metav1.CreateOptions{})
				return err
			}
			_, err := client.CoreV1().ConfigMaps("many").Create(ctx, &corev1.ConfigMap{ObjectMeta: name, Data: map[string]string{"text": text}}, metav1.CreateOptions{})
			return err
		})
	}
	bed.Must(t, group.Wait())
}
