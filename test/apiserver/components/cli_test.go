//go:build apiserver

package components

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	release "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	clicomponents "github.com/refit-dev/refit/internal/cli/components"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/components"
	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

// as returns the cluster as a user of the CLI has it. Without a user, it is the administrator.
func (m *made) as(user string) *operations.Cluster {
	m.t.Helper()
	config := rest.CopyConfig(m.config)
	config.Impersonate.UserName = user
	c, err := operations.NewClient(config)
	must(m.t, err)
	return &operations.Cluster{Client: c, Name: "test", Command: "refit"}
}

// diff computes the changes of the component as a user.
func (m *made) diff(user string) (*cliv1alpha1.ComponentDiff, error) {
	m.t.Helper()
	known, err := m.as("").Component(m.t.Context(), m.name)
	must(m.t, err)
	config := rest.CopyConfig(m.config)
	config.Impersonate.UserName = user
	return (&clicomponents.Differ{Config: config, Cluster: "test"}).Diff(m.t.Context(), known, m.release.Name)
}

func TestADiffIsWhatTheOfferCovers(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade()
	m.installOld()
	recorded := m.offer()
	diff, err := m.diff("")
	must(t, err)
	if len(diff.Offers) != 1 {
		t.Fatalf("%d offers", len(diff.Offers))
	}
	offer := diff.Offers[0]
	if offer.Digest != recorded.Digest || offer.Recorded != "" || offer.Digest == "" {
		t.Errorf("the digest is %q, recorded %q, but the offer has %q", offer.Digest, offer.Recorded, recorded.Digest)
	}
	count := map[string]int32{}
	for _, object := range offer.Objects {
		if !strings.HasPrefix(object.Object, "CustomResourceDefinition") {
			count[object.Change]++
		}
		if !strings.Contains(object.Diff, "@@") {
			t.Errorf("%s has no diff: %q", object.Object, object.Diff)
		}
	}
	if want := recorded.Changes; count["Create"] != want.Create || count["Change"] != want.Change || count["Delete"] != want.Delete || want.Change == 0 {
		t.Errorf("the diff has %v, but the offer %+v", count, want)
	}
}

func TestADiffFromOtherValuesThanTheOffer(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade()
	m.installOld()
	recorded := m.offer()
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: components.Namespace, Name: m.name + "-values"}, StringData: map[string]string{"values.yaml": "replicas: 2"},
	}
	must(t, m.client.Create(t.Context(), secret))
	m.spec(func(s *refitv1alpha1.ComponentSpec) {
		s.ValuesFrom = []refitv1alpha1.ValuesSource{{Secret: secret.Name}}
	})
	diff, err := m.diff("")
	must(t, err)
	if offer := diff.Offers[0]; offer.Recorded != recorded.Digest || offer.Digest == recorded.Digest || offer.Digest == "" {
		t.Errorf("the digest is %q, recorded %q", offer.Digest, offer.Recorded)
	}
}

func TestADiffThatAProblemBlocks(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade(func(c *refitv1alpha1.ReleaseComponent) { c.Values = map[string]any{"strict": true} })
	m.installOld()
	m.offer()
	diff, err := m.diff("")
	if !errors.Is(err, exit.ErrBlocked) || diff == nil || diff.Offers[0].Problems[0].Reason != "CRDRefusesObjects" || len(diff.Offers[0].Objects) == 0 {
		t.Errorf("%+v, %v", diff, err)
	}
}

func TestADiffOfARemoval(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade()
	m.installOld()
	m.drop()
	recorded := m.offer()
	diff, err := m.diff("")
	must(t, err)
	offer := diff.Offers[0]
	if offer.Action != "Remove" || offer.Digest != recorded.Digest || offer.Recorded != "" || len(offer.Objects) != int(recorded.Changes.Delete) {
		t.Errorf("%+v", offer)
	}
	for _, object := range offer.Objects {
		if object.Change != "Delete" || !strings.Contains(object.Diff, "+++ /dev/null") {
			t.Errorf("%+v", object)
		}
	}
}

func TestADiffNeedsThePermissionsOfTheUser(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade()
	m.installOld()
	m.offer()
	user := m.name + "-viewer"
	m.grant(user, rbacv1.PolicyRule{APIGroups: []string{"refit.dev"}, Resources: []string{"*"}, Verbs: []string{"get", "list"}})
	m.eventually("the user may read objects of Refit", func() error {
		_, err := m.as(user).Component(t.Context(), m.name)
		return err
	})
	if _, err := m.diff(user); err == nil || !strings.Contains(err.Error(), "with your permissions") || !strings.Contains(err.Error(), "configmaps") {
		t.Errorf("without access to charts: %v", err)
	}
	m.grant(user, rbacv1.PolicyRule{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list"}})
	var diff *cliv1alpha1.ComponentDiff
	m.eventually("the user may read everything", func() (err error) {
		diff, err = m.diff(user)
		return err
	})
	offer := diff.Offers[0]
	if offer.Recorded != "" || len(offer.Objects) == 0 {
		t.Errorf("with read access: %+v", offer)
	}
	if len(offer.Notes) == 0 || !strings.Contains(offer.Notes[0], "were not checked with your permissions") {
		t.Errorf("CRDs need a dry run, but nothing is noted: %v", offer.Notes)
	}
}

// grant allows a user something in the cluster.
func (m *made) grant(user string, rules ...rbacv1.PolicyRule) {
	m.t.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: m.name + "-"}, Rules: rules}
	must(m.t, m.client.Create(m.t.Context(), role))
	must(m.t, m.client.Create(m.t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: m.name + "-"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}))
}

// adopt adopts the component as a user.
func (m *made) adopt(user string, dryRun bool) (*cliv1alpha1.Adoption, error) {
	m.t.Helper()
	known := m.known()
	a := &clicomponents.Adopter{Cluster: "test", Command: "refit", DryRun: dryRun, Write: m.as(user).Adopt}
	return a.Adopt(m.t.Context(), known.Component)
}

func (m *made) known() progress.KnownComponent {
	m.t.Helper()
	known, err := m.as("").Component(m.t.Context(), m.name)
	must(m.t, err)
	return known
}

func TestAnAdoptedReleaseIsNotBlocked(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade()
	m.installOld()
	m.forget()
	if offer := m.offer(); blocked(offer) != "ComponentNotAdopted" ||
		!strings.Contains(offer.Problems[0].Remedy, "`refit components adopt "+m.name+"`") {
		t.Fatalf("%+v", offer.Problems)
	}
	if result, err := m.adopt("", true); err != nil || !result.Changed || m.known().Component.Spec.Adopt {
		t.Errorf("a dry run: %+v, %v", result, err)
	}
	for i, changed := range []bool{true, false} {
		if result, err := m.adopt("", false); err != nil || result.Changed != changed {
			t.Errorf("run %d: %+v, %v", i, result, err)
		}
	}
	if stored := m.known().Component; !stored.Spec.Adopt {
		t.Errorf("%+v", stored.Spec)
	}
	if got := blocked(m.offer()); got != "" {
		t.Errorf("%q blocks", got)
	}
}

func TestAnAdoptionWithoutPermission(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade()
	m.installOld()
	m.forget()
	m.offer()
	_, err := m.adopt(m.name+"-nobody", false)
	if err == nil || !strings.Contains(err.Error(), "the verbs patch and approve on components.refit.dev") || m.known().Component.Spec.Adopt {
		t.Errorf("%v", err)
	}
}

func TestWhatGitOpsOwnsIsNotAdopted(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade()
	m.installOld()
	m.label("helm.toolkit.fluxcd.io/name", "x")
	m.offer()
	if _, err := m.adopt("", false); err == nil || !strings.Contains(err.Error(), `{"spec":{"manage":"Observe"}}`) || m.known().Component.Spec.Adopt {
		t.Errorf("%v", err)
	}
}

// forget removes the mark of Refit from the Helm release, as if somebody had installed it.
func (m *made) forget() {
	m.t.Helper()
	clients, err := kubernetes.NewForConfig(m.config)
	must(m.t, err)
	records := driver.NewSecrets(clients.CoreV1().Secrets(m.name))
	const key = "sh.helm.release.v1.%s.v1"
	found, err := records.Get(fmt.Sprintf(key, m.name))
	must(m.t, err)
	record, is := found.(*release.Release)
	if !is {
		m.t.Fatalf("%T", found)
	}
	record.Info.Description = "Install complete"
	must(m.t, records.Update(fmt.Sprintf(key, m.name), record))
}
