//go:build apiserver

package components

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/components"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/artifact/charts"
	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/component"
	"github.com/refit-dev/refit/test/apiserver"
)

const (
	patience = 10 * time.Minute // the machine may be busy
	sequence = 7
)

// A bed is a cluster with the CRDs of Refit.
type bed struct {
	t       *testing.T
	server  *apiserver.Server
	config  *rest.Config
	client  client.WithWatch
	key     ed25519.PrivateKey
	options components.Options
}

var prepared sync.Once

// newBed returns a bed on the shared server. Deployments become ready at once.
func newBed(t *testing.T) *bed {
	t.Helper()
	s := apiserver.Shared(t, apiserver.Options{})
	config := s.RESTConfig()
	config.WarningHandler = rest.NoWarnings{}
	scheme := runtime.NewScheme()
	must(t, clientgoscheme.AddToScheme(scheme))
	must(t, refitv1alpha1.AddToScheme(scheme))
	must(t, apiextensionsv1.AddToScheme(scheme))
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	must(t, err)
	prepared.Do(func() { s.Install(t, "../../../config/crd") })
	err = c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: components.Namespace}})
	if !apierrors.IsAlreadyExists(err) {
		must(t, err)
	}
	b := &bed{t: t, server: s, config: config, client: c, key: artifact.NewKey()}
	b.options = components.Options{
		Keys: b.keys(), Log: slog.New(slog.NewTextHandler(logs{t}, nil)), Lease: func(ctx context.Context) context.Context { return ctx },
		Limit: func(step component.Step) time.Duration { return min(step.Limit, patience) },
	}
	b.rollOut()
	return b
}

// logs writes the log of a process into that of the test.
type logs struct{ t *testing.T }

func (l logs) Write(text []byte) (int, error) {
	if l.t.Context().Err() == nil {
		l.t.Log(string(text))
	}
	return len(text), nil
}

// keys returns a directory with the public key.
func (b *bed) keys() string {
	b.t.Helper()
	public, err := artifact.MarshalPublic(artifact.PublicOf(b.key).Key)
	must(b.t, err)
	dir := b.t.TempDir()
	must(b.t, os.Chmod(dir, 0o755))
	must(b.t, os.WriteFile(filepath.Join(dir, "release.pem"), public, 0o644))
	return dir
}

// rollOut is the controller of Deployments: it makes each ready that has the label.
func (b *bed) rollOut() {
	b.t.Helper()
	watcher, err := b.client.Watch(b.t.Context(), &appsv1.DeploymentList{})
	must(b.t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range watcher.ResultChan() {
			if d, ok := event.Object.(*appsv1.Deployment); ok && d.Labels["ready"] == "true" && d.DeletionTimestamp == nil {
				b.makeReady(d)
			}
		}
	}()
	b.t.Cleanup(func() { watcher.Stop(); <-done })
}

func (b *bed) makeReady(d *appsv1.Deployment) {
	if d.Status.ObservedGeneration == d.Generation && d.Status.AvailableReplicas == 1 {
		return
	}
	b.setReady(d)
	_ = b.client.Status().Update(context.WithoutCancel(b.t.Context()), d) // a conflict comes with another event
}

func (b *bed) setReady(d *appsv1.Deployment) {
	d.Status = appsv1.DeploymentStatus{
		ObservedGeneration: d.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
		Conditions: []appsv1.DeploymentCondition{
			{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue},
			{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
		},
	}
}

// A made is a component with the made chart.
type made struct {
	*bed
	name    string // of the component, of its Helm release and of its namespace
	release *refitv1alpha1.ClusterRelease
	digest  string // of the release
}

// recipe has a freeze, two waves, and a step on objects between them.
func recipe(name string) []refitv1alpha1.RecipeStep {
	return []refitv1alpha1.RecipeStep{
		{Freeze: &refitv1alpha1.RecipeFreeze{
			Limit: metav1.Duration{Duration: 10 * time.Minute},
			Deny:  refitv1alpha1.RecipeDeny{Operations: []string{"CREATE"}, Resources: []string{"things." + name + ".test"}},
		}},
		{CRDs: &refitv1alpha1.RecipeCRDs{}},
		{Wave: &refitv1alpha1.RecipeWave{Name: "settings", Objects: []string{"ConfigMap/*"}}},
		{Touch: &refitv1alpha1.RecipeTouch{RecipeObjects: refitv1alpha1.RecipeObjects{Kind: "Thing." + name + ".test"}}},
		{Patch: &refitv1alpha1.RecipePatch{
			RecipeObjects: refitv1alpha1.RecipeObjects{Kind: "Thing." + name + ".test"}, Path: "/spec/color", Value: "${to}",
		}},
		{Wave: &refitv1alpha1.RecipeWave{Name: "rest"}},
		{Verify: &refitv1alpha1.RecipeVerify{Ready: refitv1alpha1.VerifyAll, Images: refitv1alpha1.VerifyOnlyOfRelease}},
	}
}

var count struct {
	sync.Mutex
	made int
}

// newMade publishes a ClusterRelease with version 2 of the made chart. The changes apply to the
// component before it is signed.
func (b *bed) newMade(changes ...func(*refitv1alpha1.ReleaseComponent)) *made {
	b.t.Helper()
	m, archive := b.newName(), b.pack(2)
	must(b.t, charts.Put(b.t.Context(), b.client, archive))
	signed := m.signed(archive)
	for _, change := range changes {
		change(&signed)
	}
	m.publish(m.name, signed)
	return m
}

// newName returns a component that no ClusterRelease has yet, with its namespace.
func (b *bed) newName() *made {
	b.t.Helper()
	count.Lock()
	count.made++
	m := &made{bed: b, name: fmt.Sprintf("made%d", count.made)}
	count.Unlock()
	must(b.t, b.client.Create(b.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: m.name}}))
	return m
}

// signed returns what a publisher signs for version 2.
func (m *made) signed(archive []byte) refitv1alpha1.ReleaseComponent {
	return refitv1alpha1.ReleaseComponent{
		Name: m.name, Version: "2.0.0", Chart: charts.Identify(archive), Release: refitv1alpha1.HelmRelease{Namespace: m.name, Name: m.name},
		UserMay: []string{"**"}, Recipe: recipe(m.name),
	}
}

func (b *bed) pack(version int) []byte {
	b.t.Helper()
	archive, err := helm.Pack(filepath.Join("testdata", fmt.Sprintf("made-%d", version)))
	must(b.t, err)
	return archive
}

// publish signs a ClusterRelease with components and creates it.
func (m *made) publish(name string, signed ...refitv1alpha1.ReleaseComponent) {
	m.t.Helper()
	version := m.server.Version()
	payload, err := json.Marshal(refitv1alpha1.ReleasePayload{Kubernetes: version, Files: clustertest.DebFiles(version)})
	must(m.t, err)
	envelope, err := artifact.Sign(payload, m.key)
	must(m.t, err)
	opened, err := artifact.Unverified(envelope)
	must(m.t, err)
	m.digest = opened.Digest
	list, err := artifact.SignComponents(refitv1alpha1.ComponentsPayload{Release: m.digest, Components: signed}, m.key)
	must(m.t, err)
	m.release = &refitv1alpha1.ClusterRelease{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       refitv1alpha1.ClusterReleaseSpec{Kubernetes: version, Envelope: envelope, Components: list},
	}
	must(m.t, m.client.Create(m.t.Context(), m.release))
}

// installOld installs version 1 as Refit does, and creates an object of its CRD.
func (m *made) installOld() {
	m.t.Helper()
	m.installWith(nil)
}

func (m *made) installWith(values map[string]any) {
	m.t.Helper()
	m.install(m.pack(1), values)
}

// install installs a chart as Refit does, and creates an object of its CRD.
func (m *made) install(archive []byte, values map[string]any) {
	m.t.Helper()
	chart, err := helm.Load(archive)
	must(m.t, err)
	r := helm.Release{Namespace: m.name, Name: m.name}
	capabilities := helm.Capabilities{Kubernetes: m.server.Version(), APIVersions: []string{"v1", "apps/v1"}}
	rendering, err := helm.Render(m.t.Context(), chart, values, r, capabilities, false)
	must(m.t, err)
	for _, definition := range rendering.CRDs {
		must(m.t, m.client.Create(m.t.Context(), definition.Content.DeepCopy()))
	}
	operation := helm.Mark{Operation: "install", Sequence: 1, Step: "wave-rest"}
	must(m.t, m.helm().Install(m.t.Context(), operation, helm.Upgrade{
		Chart: chart, Values: values, Capabilities: capabilities, Rendering: rendering, HookTimeout: time.Minute,
	}))
	m.thing("first")
}

func (m *made) helm() *helm.Client {
	return helm.New(m.t.Context(), m.config, helm.Release{Namespace: m.name, Name: m.name}, slog.DiscardHandler)
}

// thing creates an object of the component's CRD, once it is served.
func (m *made) thing(name string) {
	m.t.Helper()
	thing := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": m.name + ".test/v1", "kind": "Thing", "metadata": map[string]any{"name": name, "namespace": m.name},
		"spec": map[string]any{"size": int64(3), "color": "red"},
	}}
	m.eventually("the CRD is served", func() error { return m.client.Create(m.t.Context(), thing.DeepCopy()) })
}

// eventually repeats a read until it succeeds.
func (b *bed) eventually(what string, try func() error) {
	b.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("%s: %v", what, err)
		}
		select {
		case <-b.t.Context().Done():
			b.t.Fatal(b.t.Context().Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// offer reconciles the Component, and returns its only offer.
func (m *made) offer() refitv1alpha1.ComponentOffer {
	m.t.Helper()
	c := m.component()
	for i := range c.Status.Offers {
		if c.Status.Offers[i].Release.Name == m.release.Name {
			return c.Status.Offers[i]
		}
	}
	m.t.Fatalf("no offer: %+v", c.Status)
	return refitv1alpha1.ComponentOffer{}
}

// component reconciles the Component, and returns it.
func (m *made) component() *refitv1alpha1.Component {
	m.t.Helper()
	r := components.NewReconciler(m.client, m.config, m.options)
	for range 2 { // the first one may create it
		_, err := r.Reconcile(m.t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: m.name}})
		must(m.t, err)
	}
	var c refitv1alpha1.Component
	must(m.t, m.client.Get(m.t.Context(), client.ObjectKey{Name: m.name}, &c))
	return &c
}

// order orders what the offer says.
func (m *made) order(offer refitv1alpha1.ComponentOffer) {
	m.t.Helper()
	operation := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: m.name}}
	operation.Spec.Target.Kubernetes, operation.Spec.Approval = m.server.Version(), refitv1alpha1.ApprovalNone
	must(m.t, m.client.Create(m.t.Context(), operation))
	must(m.t, m.client.Create(m.t.Context(), &refitv1alpha1.ComponentUpgrade{
		ObjectMeta: metav1.ObjectMeta{Name: m.name},
		Spec: refitv1alpha1.ComponentUpgradeSpec{
			Operation: refitv1alpha1.Operation{Name: m.name, UID: operation.UID}, Sequence: sequence, Epoch: 1,
			Release: refitv1alpha1.ReleaseRef{Name: m.release.Name, Digest: m.digest}, Version: offer.Version, Action: offer.Action,
			Kubernetes: offer.Kubernetes, Digest: offer.Digest, Permit: refitv1alpha1.PermitApply, Rollback: refitv1alpha1.RollbackAuto,
		},
	}))
}

// change changes the order.
func (m *made) change(change func(*refitv1alpha1.ComponentUpgradeSpec)) {
	m.t.Helper()
	u := m.upgrade()
	u.Spec.Sequence++
	change(&u.Spec)
	must(m.t, m.client.Update(m.t.Context(), u))
}

func (m *made) upgrade() *refitv1alpha1.ComponentUpgrade {
	m.t.Helper()
	var u refitv1alpha1.ComponentUpgrade
	must(m.t, m.client.Get(m.t.Context(), client.ObjectKey{Name: m.name}, &u))
	return &u
}

// run runs a process until it has nothing to do.
func (m *made) run(config *rest.Config) error {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	defer cancel()
	return m.runIn(ctx, config)
}

func (m *made) runIn(ctx context.Context, config *rest.Config) error {
	r, err := components.NewRunner(ctx, config, m.options)
	if err != nil {
		return err
	}
	return r.Run(ctx, m.name)
}

// ended runs a process, and requires a phase.
func (m *made) ended(phase refitv1alpha1.ComponentPhase) *refitv1alpha1.ComponentUpgrade {
	m.t.Helper()
	must(m.t, m.run(m.config))
	u := m.upgrade()
	if u.Status.Phase != phase {
		m.t.Fatalf("the phase is %s, not %s: %+v", u.Status.Phase, phase, u.Status)
	}
	return u
}

var errNotYet = errors.New("not yet")

// makeAllReady makes the Deployment of the component ready, although its label says no.
func (m *made) makeAllReady() {
	m.t.Helper()
	m.eventually("the Deployment is made ready", func() error {
		var d appsv1.Deployment
		if err := m.client.Get(m.t.Context(), client.ObjectKey{Namespace: m.name, Name: m.name}, &d); err != nil {
			return err
		}
		m.setReady(&d)
		return m.client.Status().Update(m.t.Context(), &d)
	})
}
