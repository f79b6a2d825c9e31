//go:build apiserver

package components

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact/charts"
	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

// drop replaces the ClusterRelease by one with the installed version, which is uninstalled once a
// ClusterRelease no longer has it, and publishes such a one.
func (m *made) drop() {
	m.t.Helper()
	must(m.t, m.client.Delete(m.t.Context(), m.release))
	archive := m.pack(1)
	must(m.t, charts.Put(m.t.Context(), m.client, archive))
	other := refitv1alpha1.ReleaseComponent{
		Name: m.name + "-other", Version: "1.0.0", Chart: charts.Identify(archive), Release: refitv1alpha1.HelmRelease{Namespace: m.name, Name: "other"},
	}
	m.publish(m.name+"-target", other)
	target := m.release
	m.t.Cleanup(func() { _ = m.client.Delete(context.WithoutCancel(m.t.Context()), target) })
	installed := other
	installed.Name, installed.Release.Name, installed.OnRemove = m.name, m.name, refitv1alpha1.RemoveUninstall
	m.publish(m.name, installed)
}

func TestAComponentThatTheTargetNoLongerHas(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade()
	m.installOld()
	m.drop()
	offer := m.offer()
	if offer.Action != refitv1alpha1.ActionRemove || offer.Version != "1.0.0" || blocked(offer) != "" ||
		offer.Changes != (refitv1alpha1.ObjectChanges{Delete: 3}) || len(offer.Deletes) != 3 || len(offer.CRDs) > 0 {
		t.Fatalf("the offer is %+v", offer)
	}
	m.order(offer)
	u := m.ended(refitv1alpha1.ComponentSucceeded)
	if len(u.Status.Left) > 0 || u.Status.Error != nil {
		t.Errorf("the status is %+v", u.Status)
	}
	state := m.state()
	for _, gone := range []string{"kind: Deployment", "NAME-settings", "NAME-only-1", "NAME-migrate", "Helm "} {
		if strings.Contains(state, gone) {
			t.Errorf("%q is left:\n%s", gone, state)
		}
	}
	for _, stays := range []string{"CRD ", "color: red", "the release does not exist"} {
		if !strings.Contains(state, stays) {
			t.Errorf("%q is missing:\n%s", stays, state)
		}
	}
	if c := m.component(); c.Status.Installed != nil || c.Status.Owner != refitv1alpha1.OwnerNone {
		t.Errorf("the component is %+v", c.Status)
	}
}

// The chart no longer renders: a value that it requires is missing. It has a webhook, which is
// deleted first.
func TestARemovalOfAChartThatDoesNotRender(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade()
	archive := m.withWebhook()
	m.install(archive, map[string]any{"domain": m.name + ".test"})
	m.drop()
	m.component()
	m.spec(func(s *refitv1alpha1.ComponentSpec) { s.ValuesFrom = []refitv1alpha1.ValuesSource{{Secret: "deleted"}} })
	m.order(m.offer())
	m.ended(refitv1alpha1.ComponentSucceeded)
	var left admissionregistrationv1.ValidatingWebhookConfiguration
	if err := m.client.Get(t.Context(), client.ObjectKey{Name: m.name + ".test"}, &left); !apierrors.IsNotFound(err) {
		t.Errorf("the webhook is left: %v", err)
	}
	if state := m.state(); strings.Contains(state, "kind: Deployment") || !strings.Contains(state, "the release does not exist") {
		t.Errorf("the state is\n%s", state)
	}
}

// withWebhook returns the old chart with a webhook and a value that it requires.
func (m *made) withWebhook() []byte {
	m.t.Helper()
	dir := filepath.Join(m.t.TempDir(), "made")
	must(m.t, os.CopyFS(dir, os.DirFS("testdata/made-1")))
	webhook := `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: {{ required "domain must be set" .Values.domain }}
webhooks: []
`
	must(m.t, os.WriteFile(filepath.Join(dir, "templates", "webhook.yaml"), []byte(webhook), 0o600))
	archive, err := helm.Pack(dir)
	must(m.t, err)
	return archive
}

// TestARemovalThatIsRetried does not create the objects again that the attempt before has deleted.
func TestARemovalThatIsRetried(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade()
	m.install(m.withWebhook(), map[string]any{"domain": m.name + ".test"})
	m.drop()
	m.order(m.offer())
	m.change(func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Rollback = refitv1alpha1.RollbackManual })
	config := rest.CopyConfig(m.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return refusing{next, m.name + "-only-1"} })
	must(t, m.run(config))
	if u := m.upgrade(); u.Status.Phase != refitv1alpha1.ComponentFailed || u.Status.Error.Step != "remove" {
		t.Fatalf("the status is %+v", u.Status)
	}
	failed, err := m.helm().Newest(t.Context())
	must(t, err)
	m.change(func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Attempt = 1 })
	created := false
	config = rest.CopyConfig(m.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return transport(func(request *http.Request) (*http.Response, error) {
			created = created || request.Method == http.MethodPatch && strings.HasSuffix(request.URL.Path, "/deployments/"+m.name)
			return next.RoundTrip(request)
		})
	})
	must(t, m.run(config))
	if u := m.upgrade(); u.Status.Phase != refitv1alpha1.ComponentSucceeded || created {
		t.Errorf("after revision %d (%s), created again: %v; the status is %+v", failed.Revision, failed.Description, created, u.Status)
	}
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(request *http.Request) (*http.Response, error) { return t(request) }

// refusing denies the deletion of an object.
type refusing struct {
	http.RoundTripper

	name string
}

func (r refusing) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodDelete || !strings.HasSuffix(request.URL.Path, "/"+r.name) {
		return r.RoundTripper.RoundTrip(request)
	}
	body, err := json.Marshal(apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, r.name, errors.New("denied")).ErrStatus)
	return &http.Response{
		StatusCode: http.StatusForbidden, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)), Request: request,
	}, err
}

// A rollback waits for objects that are being deleted, and creates them again.
func TestARemovalThatIsRolledBack(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade()
	m.installOld()
	m.drop()
	m.options.Limit = func(step component.Step) time.Duration {
		if step.Kind == component.StepRemove && step.Of == "" {
			return 20 * time.Second
		}
		return step.Limit
	}
	before := m.state()
	m.order(m.offer())
	finalized := m.finalize("example.com/keep")
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- m.runIn(ctx, m.config) }()
	m.waits("remove")
	m.change(func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Permit = refitv1alpha1.PermitRollback })
	stop()
	<-done
	go func() { done <- m.run(m.config) }()
	m.waits("undo-remove") // once the removal no longer waits
	m.removeFinalizer(finalized)
	must(t, <-done)
	if u := m.upgrade(); u.Status.Phase != refitv1alpha1.ComponentRolledBack {
		t.Errorf("the status is %+v", u.Status)
	}
	if after := m.state(); after != before {
		t.Errorf("after the rollback:\n%s\nbefore:\n%s", after, before)
	}
}

// waits waits until a step waits.
func (m *made) waits(step string) {
	m.t.Helper()
	m.eventually(step+" waits", func() error {
		if u := m.upgrade(); u.Status.Step != step || u.Status.Waiting == "" {
			return errNotYet
		}
		return nil
	})
}

// finalize adds a finalizer to the settings of the component.
func (m *made) finalize(finalizer string) *corev1.ConfigMap {
	m.t.Helper()
	settings := &corev1.ConfigMap{}
	must(m.t, m.client.Get(m.t.Context(), client.ObjectKey{Namespace: m.name, Name: m.name + "-settings"}, settings))
	settings.Finalizers = []string{finalizer}
	must(m.t, m.client.Update(m.t.Context(), settings))
	return settings
}

func (m *made) removeFinalizer(object *corev1.ConfigMap) {
	m.t.Helper()
	m.eventually("the finalizer is removed", func() error {
		live := &corev1.ConfigMap{}
		if err := m.client.Get(m.t.Context(), client.ObjectKeyFromObject(object), live); err != nil {
			return client.IgnoreNotFound(err)
		}
		live.Finalizers = nil
		return m.client.Update(m.t.Context(), live)
	})
}

// TestRemovalsThatAreBlocked lists what a removal must not delete or skip.
func TestRemovalsThatAreBlocked(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade()
	m.installWith(map[string]any{"volume": true, "cleanup": true})
	m.drop()
	offer := m.offer()
	reasons := map[string]bool{}
	for _, problem := range offer.Problems {
		reasons[problem.Reason] = problem.Blocks && problem.Remedy != ""
	}
	if !reasons["RemovalDeletesData"] || !reasons["RemovalNeedsHooks"] {
		t.Errorf("the problems are %+v", offer.Problems)
	}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: m.name, Name: m.name + "-data"}}
	must(t, m.client.Get(t.Context(), client.ObjectKeyFromObject(claim), claim))
	claim.Annotations["helm.sh/resource-policy"] = "keep"
	must(t, m.client.Update(t.Context(), claim))
	for _, problem := range m.offer().Problems {
		if problem.Reason == "RemovalDeletesData" {
			t.Errorf("the problem stays: %+v", problem)
		}
	}
}
