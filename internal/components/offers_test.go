package components

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

func TestWhenOffersAreComputedAgain(t *testing.T) {
	with := func(reason string) *refitv1alpha1.ComponentStatus {
		return &refitv1alpha1.ComponentStatus{Offers: []refitv1alpha1.ComponentOffer{{}, {Problems: []refitv1alpha1.ComponentProblem{{Reason: reason}}}}}
	}
	for name, test := range map[string]struct {
		status   *refitv1alpha1.ComponentStatus
		complete bool
		want     time.Duration
	}{
		"no problem":              {&refitv1alpha1.ComponentStatus{}, true, resyncInterval},
		"problem of the release":  {with("ComponentNotAdopted"), true, resyncInterval},
		"failed check":            {with("CheckFailed"), true, failedInterval},
		"components are not read": {with("CheckFailed"), false, busyInterval},
	} {
		if got := intervalOf(test.status, test.complete); got != test.want {
			t.Errorf("%s: after %s, want %s", name, got, test.want)
		}
	}
}

// TestAComponentThatCannotBeRead: without a status, nobody knows what an upgrade waits for.
func TestAComponentThatCannotBeRead(t *testing.T) {
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	c := &refitv1alpha1.Component{ObjectMeta: metav1.ObjectMeta{Name: name}}
	c.Status.Offers = []refitv1alpha1.ComponentOffer{{Version: "2.0.0"}}
	store := fake.NewClientBuilder().WithScheme(scheme).WithObjects(c).WithStatusSubresource(c).Build()
	r := NewReconciler(store, &rest.Config{Host: "https://127.0.0.1:1"}, Options{Log: slog.New(slog.DiscardHandler)})
	if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: name}}); err == nil {
		t.Error("no error")
	}
	if err := store.Get(t.Context(), client.ObjectKey{Name: name}, c); err != nil {
		t.Fatal(err)
	}
	stalled := meta.FindStatusCondition(c.Status.Conditions, refitv1alpha1.ConditionStalled)
	if stalled == nil || stalled.Reason != "OffersNotComputed" || !strings.Contains(stalled.Message, "cannot read the version of the API server") {
		t.Errorf("the condition is %+v", stalled)
	}
	if len(c.Status.Offers) != 1 || c.Status.ObservedGeneration != 0 {
		t.Errorf("the status is %+v", c.Status)
	}
}

// TestAComponentThatTakesTooLong: its reconcile is ended, and the next one as well.
func TestAComponentThatTakesTooLong(t *testing.T) {
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	c := &refitv1alpha1.Component{ObjectMeta: metav1.ObjectMeta{Name: name}}
	store := fake.NewClientBuilder().WithScheme(scheme).WithObjects(c).WithStatusSubresource(c).Build()
	r := NewReconciler(store, &rest.Config{}, Options{Log: slog.New(slog.DiscardHandler)})
	ended, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	if err := r.stall(ended, c, ended.Err()); err != nil {
		t.Fatal(err)
	}
	if err := store.Get(t.Context(), client.ObjectKey{Name: name}, c); err != nil || !meta.IsStatusConditionTrue(c.Status.Conditions, refitv1alpha1.ConditionStalled) {
		t.Errorf("%+v, %v", c.Status, err)
	}
}

// published returns a ClusterRelease with one component.
func published(t *testing.T, name string, key ed25519.PrivateKey, chart refitv1alpha1.ComponentChart) *refitv1alpha1.ClusterRelease {
	t.Helper()
	payload, err := json.Marshal(refitv1alpha1.ReleasePayload{Kubernetes: "v1.36.3", Files: clustertest.DebFiles("v1.36.3")})
	if err != nil {
		t.Fatal(err)
	}
	envelope, err := artifact.Sign(payload, key)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := artifact.Unverified(envelope)
	if err != nil {
		t.Fatal(err)
	}
	list, err := artifact.SignComponents(refitv1alpha1.ComponentsPayload{Release: opened.Digest, Components: []refitv1alpha1.ReleaseComponent{{
		Name: "queue", Version: "2.0.0", Release: refitv1alpha1.HelmRelease{Namespace: "queue", Name: "queue"},
		Chart: chart,
	}}}, key)
	if err != nil {
		t.Fatal(err)
	}
	return &refitv1alpha1.ClusterRelease{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: refitv1alpha1.ClusterReleaseSpec{Kubernetes: "v1.36.3", Envelope: envelope, Components: list},
	}
}

// TestAClusterReleaseThatIsRefused: it does not matter to components that another one has.
func TestAClusterReleaseThatIsRefused(t *testing.T) {
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	key, keys, chart := artifact.NewKey(), t.TempDir(), refitv1alpha1.ComponentChart{Digest: "sha256:" + strings.Repeat("a", 64), Size: 1}
	public, err := artifact.MarshalPublic(artifact.PublicOf(key).Key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(keys, "release.pem"), public, 0o644); err != nil {
		t.Fatal(err)
	}
	store := fake.NewClientBuilder().WithScheme(scheme).WithObjects(published(t, "good", key, chart), published(t, "bad", artifact.NewKey(), chart)).Build()
	r := NewReconciler(store, &rest.Config{}, Options{Keys: keys, Log: slog.New(slog.DiscardHandler)})
	all, err := r.releases(t.Context())
	if err != nil || len(all.verified) != 1 || len(all.refused) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	for name, stalls := range map[string]bool{"queue": false, "other": true} {
		c := &refitv1alpha1.Component{ObjectMeta: metav1.ObjectMeta{Name: name}}
		var status refitv1alpha1.ComponentStatus
		r.conditions(&status, c, all, 0)
		if got := meta.IsStatusConditionTrue(status.Conditions, refitv1alpha1.ConditionStalled); got != stalls {
			t.Errorf("%s: stalled %v: %+v", name, got, status.Conditions)
		}
		v := &view{component: c, current: "v1.36.3", installed: []component.Installed{{Name: "queue", Version: "1.0.0"}}}
		offers := unsignedOffers(v, all)
		if stalls != (len(offers) == 0) {
			t.Fatalf("%s: offers %+v", name, offers)
		}
		if stalls {
			continue
		}
		if o := offers[0]; o.Release.Name != "bad" || o.Version != "2.0.0" || o.Action != refitv1alpha1.ActionUpgrade || o.Digest != "" ||
			len(o.Problems) != 1 || o.Problems[0].Reason != "SignatureInvalid" || !o.Problems[0].Blocks {
			t.Errorf("the offer is %+v", o)
		}
	}
}

func TestMoreOffersThanTheAPIPermits(t *testing.T) {
	offers := func(n int, action refitv1alpha1.ComponentAction) (out []refitv1alpha1.ComponentOffer) {
		for range n {
			out = append(out, refitv1alpha1.ComponentOffer{Action: action})
		}
		return out
	}
	signed := append(offers(4, refitv1alpha1.ActionNone), offers(14, refitv1alpha1.ActionUpgrade)...)
	for situation, test := range map[string]struct {
		removal, unsigned, signed []refitv1alpha1.ComponentOffer
		want                      map[refitv1alpha1.ComponentAction]int
	}{
		"a few":                      {nil, offers(2, "unsigned"), signed[:5], map[refitv1alpha1.ComponentAction]int{"None": 4, "Upgrade": 1, "unsigned": 2}},
		"those that change nothing":  {nil, offers(2, "unsigned"), signed, map[refitv1alpha1.ComponentAction]int{"None": 2, "Upgrade": 14}},
		"those of a refused release": {offers(1, "Remove"), offers(20, "unsigned"), signed[4:], map[refitv1alpha1.ComponentAction]int{"Remove": 1, "Upgrade": 14, "unsigned": 1}},
		"more than that":             {nil, nil, offers(20, refitv1alpha1.ActionUpgrade), map[refitv1alpha1.ComponentAction]int{"Upgrade": 16}},
	} {
		got := map[refitv1alpha1.ComponentAction]int{}
		listed, _ := limited(test.removal, test.unsigned, test.signed, plannedOf("queue", nil))
		for _, o := range listed {
			got[o.Action]++
		}
		if !maps.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", situation, got, test.want)
		}
	}
}

// TestOffersOfTheOldestClusterReleases are left out: a plan to the newest one would wait forever.
func TestOffersOfTheOldestClusterReleases(t *testing.T) {
	removal := []refitv1alpha1.ComponentOffer{{Action: refitv1alpha1.ActionRemove, Version: "removed"}}
	var signed []refitv1alpha1.ComponentOffer
	for n := range maxOffers + 1 {
		signed = append(signed, refitv1alpha1.ComponentOffer{Action: refitv1alpha1.ActionUpgrade, Version: fmt.Sprint(n)})
	}
	listed, cut := limited(removal, nil, signed, plannedOf("queue", nil))
	if cut != 2 || len(listed) != maxOffers || listed[0].Version != "removed" || listed[1].Version != "2" || listed[maxOffers-1].Version != fmt.Sprint(maxOffers) {
		t.Errorf("%d are left out: %+v", cut, listed)
	}
	r := NewReconciler(nil, &rest.Config{}, Options{})
	for _, installed := range []*refitv1alpha1.InstalledComponent{nil, {Version: "1.0.0"}} {
		for cut, reported := range map[int]bool{0: false, 2: true} {
			status := refitv1alpha1.ComponentStatus{Installed: installed}
			r.conditions(&status, &refitv1alpha1.Component{}, releases{}, cut)
			ready := meta.FindStatusCondition(status.Conditions, refitv1alpha1.ConditionReady)
			if strings.Contains(ready.Message, "2 offers of the oldest ClusterReleases are missing") != reported {
				t.Errorf("%d are left out, and the condition is %+v", cut, ready)
			}
		}
	}
}

// TestOffersOfAPlanThatRuns stay: the operation waits for them.
func TestOffersOfAPlanThatRuns(t *testing.T) {
	var signed []refitv1alpha1.ComponentOffer
	for n := range maxOffers + 4 {
		action := refitv1alpha1.ActionUpgrade
		if n == 3 { // a plan that was made when another version was installed
			action = refitv1alpha1.ActionNone
		}
		signed = append(signed, refitv1alpha1.ComponentOffer{Action: action, Version: fmt.Sprint(n), Kubernetes: "v1.36.3"})
	}
	plan := []refitv1alpha1.PlannedComponent{
		{Name: "queue", Action: refitv1alpha1.ActionUpgrade, To: "1", RunsOn: "v1.36.3"},
		{Name: "queue", Action: refitv1alpha1.ActionUpgrade, To: "2", RunsOn: "v1.35.4"},
		{Name: "other", Action: refitv1alpha1.ActionUpgrade, To: "4", RunsOn: "v1.36.3"},
	}
	listed, cut := limited(nil, nil, signed, plannedOf("queue", plan))
	if cut != 3 || len(listed) != maxOffers || listed[0].Version != "1" || listed[1].Version != "5" {
		t.Errorf("%d are left out: %+v", cut, listed)
	}
}

// TestTheVersionDuringAnUpgradeThatStopped: Helm's record has the new version already, and the next
// operation would take the upgrade for complete.
func TestTheVersionDuringAnUpgradeThatStopped(t *testing.T) {
	for situation, test := range map[string]struct {
		phase refitv1alpha1.ComponentPhase
		from  string
		steps []string
		want  string
	}{
		"failed":                {refitv1alpha1.ComponentFailed, "1.0.0", []string{"check", "wave-rest"}, "1.0.0"},
		"aborted":               {refitv1alpha1.ComponentApplying, "1.0.0", []string{"check", "wave-rest"}, "1.0.0"},
		"aborted installation":  {refitv1alpha1.ComponentApplying, "", []string{"check", "wave-rest"}, ""},
		"aborted after a check": {refitv1alpha1.ComponentApplying, "", []string{"check"}, "2.0.0"},
		"succeeded":             {refitv1alpha1.ComponentSucceeded, "1.0.0", []string{"check", "wave-rest"}, "2.0.0"},
	} {
		u := &refitv1alpha1.ComponentUpgrade{}
		u.Status.Phase, u.Status.From = test.phase, test.from
		for _, step := range test.steps {
			u.Status.Steps = append(u.Status.Steps, refitv1alpha1.StepStatus{Name: step, State: refitv1alpha1.StepDone})
		}
		status := &refitv1alpha1.ComponentStatus{Installed: &refitv1alpha1.InstalledComponent{Version: "2.0.0"}}
		unfinished(u, &view{}, status)
		got := ""
		if status.Installed != nil {
			got = status.Installed.Version
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", situation, got, test.want)
		}
	}
}

func TestHelmReleasesOfAComponent(t *testing.T) {
	version := func(version, name string) refitv1alpha1.ReleaseComponent {
		return refitv1alpha1.ReleaseComponent{Version: version, Release: refitv1alpha1.HelmRelease{Namespace: "queue", Name: name}}
	}
	var got []string
	for _, c := range byHelmRelease([]refitv1alpha1.ReleaseComponent{version("1", "old"), version("2", "old"), version("3", "new"), version("4", "new")}) {
		got = append(got, c.Version)
	}
	if !slices.Equal(got, []string{"4", "2"}) {
		t.Errorf("%q", got)
	}
}
