//go:build apiserver

package components

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/components"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/artifact/charts"
)

// TestProblemsOfOffers lists situations that speak against an upgrade, and the reason that each
// offer has. The upgrade does not start.
func TestProblemsOfOffers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change  func(*refitv1alpha1.ReleaseComponent)
		prepare func(*made)
		want    string
		owner   refitv1alpha1.ComponentOwner
	}{
		"the CRD refuses objects": {
			change: func(c *refitv1alpha1.ReleaseComponent) { c.Values = map[string]any{"strict": true} }, want: "CRDRefusesObjects", owner: refitv1alpha1.OwnerRefit,
		},
		"Flux owns it":    {prepare: func(m *made) { m.label("helm.toolkit.fluxcd.io/name", "x") }, want: "ComponentOwnedByGitOps", owner: refitv1alpha1.OwnerFlux},
		"Argo CD owns it": {prepare: func(m *made) { m.label("argocd.argoproj.io/instance", "x") }, want: "ComponentOwnedByGitOps", owner: refitv1alpha1.OwnerArgoCD},
		"values do not match the schema": {
			prepare: func(m *made) {
				m.spec(func(s *refitv1alpha1.ComponentSpec) {
					s.Values = &runtime.RawExtension{Raw: []byte(`{"replicas":"many"}`)}
				})
			},
			want: "ValuesInvalid", owner: refitv1alpha1.OwnerRefit,
		},
		"a peer is unknown": {
			change: func(c *refitv1alpha1.ReleaseComponent) {
				c.Recipe = append([]refitv1alpha1.RecipeStep{{Require: &refitv1alpha1.RecipeRequire{
					Peers: &refitv1alpha1.RecipePeers{ListedBy: "things." + c.Name + ".test"},
				}}}, c.Recipe...)
			},
			want: "PeerUnknown", owner: refitv1alpha1.OwnerRefit,
		},
		"an object of the new version exists": {
			prepare: func(m *made) {
				object := &corev1.ConfigMap{}
				object.Namespace, object.Name = m.name, m.name+"-only-2"
				must(m.t, m.client.Create(m.t.Context(), object))
			},
			want: "ObjectExists", owner: refitv1alpha1.OwnerRefit,
		},
		"no version fits": {
			change: func(c *refitv1alpha1.ReleaseComponent) { c.Fits = []refitv1alpha1.ComponentFit{{Kubernetes: "<1.20"}} },
			want:   "ComponentHasNoPath", owner: refitv1alpha1.OwnerRefit,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change := test.change
			if change == nil {
				change = func(*refitv1alpha1.ReleaseComponent) {}
			}
			m := newBed(t).newMade(change)
			m.installOld()
			m.component()
			if test.prepare != nil {
				test.prepare(m)
			}
			offer := m.offer()
			if got := blocked(offer); got != test.want {
				t.Errorf("%q blocks, want %q: %+v", got, test.want, offer.Problems)
			}
			if c := m.component(); c.Status.Owner != test.owner {
				t.Errorf("the owner is %s, want %s", c.Status.Owner, test.owner)
			}
		})
	}
}

// label sets a label of the component's Deployment.
func (m *made) label(key, value string) {
	m.t.Helper()
	d := &appsv1.Deployment{}
	d.Namespace, d.Name = m.name, m.name
	patch := []byte(`{"metadata":{"labels":{"` + key + `":"` + value + `"}}}`)
	must(m.t, m.client.Patch(m.t.Context(), d, client.RawPatch(types.MergePatchType, patch)))
}

// TestAComponentThatMoved: the new version would run beside the installed one.
func TestAComponentThatMoved(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade()
	m.installOld()
	m.publish(m.name+"-moved", refitv1alpha1.ReleaseComponent{
		Name: m.name, Version: "2.0.0", Chart: charts.Identify(m.pack(2)), Release: refitv1alpha1.HelmRelease{Namespace: m.name, Name: "moved"},
	})
	if got := blocked(m.offer()); got != "ComponentMoved" {
		t.Errorf("%q blocks", got)
	}
	if c := m.component(); c.Status.Installed == nil || c.Status.Installed.Name != m.name {
		t.Errorf("the status is %+v", c.Status)
	}
}

// TestAClusterReleaseThatIsRefused: the other one still counts, and the plan learns the cause.
func TestAClusterReleaseThatIsRefused(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade()
	m.installOld()
	good := m.release
	key := m.key
	m.key = artifact.NewKey()
	m.publish(m.name+"-forged", refitv1alpha1.ReleaseComponent{
		Name: m.name, Version: "3.0.0", Chart: charts.Identify(m.pack(2)), Release: refitv1alpha1.HelmRelease{Namespace: m.name, Name: m.name},
	})
	m.key = key
	if got := blocked(m.offer()); got != "SignatureInvalid" {
		t.Errorf("%q blocks the forged one", got)
	}
	m.release = good
	if got := blocked(m.offer()); got != "" {
		t.Errorf("%q blocks the other one", got)
	}
	if c := m.component(); meta.IsStatusConditionTrue(c.Status.Conditions, refitv1alpha1.ConditionStalled) {
		t.Errorf("the conditions are %+v", c.Status.Conditions)
	}
}

// TestAHelmReleaseInConfigMaps: Helm stores it with another driver.
func TestAHelmReleaseInConfigMaps(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade()
	must(t, m.client.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: m.name, Name: "sh.helm.release.v1." + m.name + ".v1", Labels: map[string]string{"owner": "helm", "name": m.name},
	}}))
	if got := blocked(m.offer()); got != "HelmStorageUnsupported" {
		t.Errorf("%q blocks", got)
	}
}

func TestChartThatIsMissing(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade(func(c *refitv1alpha1.ReleaseComponent) { c.Chart = charts.Identify([]byte(c.Name)) })
	m.installOld()
	if got := blocked(m.offer()); got != "ChartMissing" {
		t.Errorf("%q blocks", got)
	}
}

// A second reconcile of an unchanged cluster writes nothing.
func TestOffersThatDoNotChange(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade()
	m.installOld()
	before := m.component().ResourceVersion
	if after := m.component().ResourceVersion; after != before {
		t.Errorf("the resourceVersion changes from %s to %s", before, after)
	}
	var namespace corev1.Namespace
	must(t, m.client.Get(t.Context(), client.ObjectKey{Name: components.Namespace}, &namespace))
}
