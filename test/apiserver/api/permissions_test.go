//go:build apiserver

package api

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/refit-dev/refit/test/apiserver"
)

// bind grants a cluster role to a user or, if the name starts with "group ", to a group.
func bind(t *testing.T, s *apiserver.Server, name, role string) {
	t.Helper()
	client, err := kubernetes.NewForConfig(s.RESTConfig())
	must(t, err)
	subject := rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}
	if group, ok := strings.CutPrefix(name, "group "); ok {
		subject.Kind, subject.Name = rbacv1.GroupKind, group
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "test-" + role + "-" + strings.ReplaceAll(name, " ", "-")},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{subject},
	}
	_, err = client.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() {
		//nolint:usetesting // the test's own context is over
		must(t, client.RbacV1().ClusterRoleBindings().Delete(context.Background(), binding.Name, metav1.DeleteOptions{}))
	})
	waitBound(t, client, subject, role)
}

// waitBound waits until the server's authorizer has observed a binding, which it does with a delay.
func waitBound(t *testing.T, client kubernetes.Interface, subject rbacv1.Subject, role string) {
	t.Helper()
	found, err := client.RbacV1().ClusterRoles().Get(t.Context(), role, metav1.GetOptions{})
	must(t, err)
	review := authorizationv1.SubjectAccessReviewSpec{User: subject.Name}
	if subject.Kind == rbacv1.GroupKind {
		review = authorizationv1.SubjectAccessReviewSpec{User: "someone", Groups: []string{subject.Name}}
	}
	last := found.Rules[len(found.Rules)-1]
	for _, verb := range last.Verbs {
		asked := &authorizationv1.ResourceAttributes{Group: last.APIGroups[0], Resource: last.Resources[0], Verb: verb}
		if len(last.ResourceNames) > 0 {
			asked.Name = last.ResourceNames[0]
		}
		review.ResourceAttributes = asked
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			answer, err := client.AuthorizationV1().SubjectAccessReviews().Create(
				t.Context(), &authorizationv1.SubjectAccessReview{Spec: review}, metav1.CreateOptions{})
			must(t, err)
			if answer.Status.Allowed {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s may not %s what %s allows", subject.Name, verb, role)
			}
		}
	}
}

// TestPermissionsOfRoles lists all permissions of each role.
func TestPermissionsOfRoles(t *testing.T) {
	const read = "get list watch"
	everything := map[string]string{"clusterupgrades": read, "nodeupgrades": read, "nodereports": read, "clusterreleases": read, "backupstores": read, "etcdbackups": read}
	maps.Copy(everything, map[string]string{"components": read, "componentupgrades": read, "upgradeschedules": read, "maintenancewindows": read})
	and := func(more map[string]string) map[string]string {
		all := maps.Clone(everything)
		maps.Copy(all, more)
		return all
	}
	want := map[string]map[string]string{
		"refit-viewer":   everything,
		"refit-operator": and(map[string]string{"clusterupgrades": read + " create update patch", "etcdbackups": read + " create delete", "upgradeschedules": read + " create update patch delete"}),
		// Whoever writes the status of an EtcdBackup can state that it is proven.
		"refit-approver": and(map[string]string{
			"clusterupgrades": read + " update patch approve", "backupstores": read + " create update patch delete approve", "backupstores/status": "get update patch",
			"etcdbackups/status": "get patch", "upgradeschedules": read + " create update patch delete", "maintenancewindows": read + " create update patch delete",
		}),
		"refit-component-editor": {"components": read + " create update patch delete approve", "componentupgrades": read, "clusterreleases": read},
		"refit-node": {
			"nodeupgrades": read, "clusterreleases": read, "nodereports": read + " create update patch", "clusterupgrades": "get",
			"nodeupgrades/status": "get update patch", "nodereports/status": "get update patch",
		},
	}
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		s := serverOf(t, version)
		for _, role := range sorted(want) {
			user, groups := "a-"+role, []string(nil)
			if role == "refit-node" {
				user, groups = "system:node:n1", []string{"system:nodes"} // bound already
			} else {
				bind(t, s, user, role)
			}
			got := rights(t, s, user, groups)
			for _, resource := range slices.Sorted(slices.Values(append(sorted(got), sorted(want[role])...))) {
				if got[resource] != want[role][resource] {
					t.Errorf("%s may %q on %s, and should %q", role, got[resource], resource, want[role][resource])
				}
			}
		}
	})
}

// rights checks every verb on every resource in the group.
func rights(t *testing.T, s *apiserver.Server, user string, groups []string) map[string]string {
	t.Helper()
	client, err := kubernetes.NewForConfig(s.RESTConfig())
	must(t, err)
	found := map[string]string{}
	for _, kind := range []string{"clusterupgrades", "nodeupgrades", "nodereports", "clusterreleases", "backupstores", "etcdbackups", "components", "componentupgrades", "upgradeschedules", "maintenancewindows"} {
		for _, part := range []string{"", "status"} {
			for _, verb := range []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "approve"} {
				review, err := client.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{
					Spec: authorizationv1.SubjectAccessReviewSpec{User: user, Groups: groups, ResourceAttributes: &authorizationv1.ResourceAttributes{
						Group: "refit.dev", Version: "v1alpha1", Resource: kind, Subresource: part, Verb: verb, Name: "n1",
					}},
				}, metav1.CreateOptions{})
				must(t, err)
				if review.Status.Allowed {
					resource := strings.TrimSuffix(kind+"/"+part, "/")
					found[resource] = strings.TrimSpace(found[resource] + " " + verb)
				}
			}
		}
	}
	return found
}

// refusedFor checks that a policy refused something with this reason.
func refusedFor(t *testing.T, what string, err error, why string) {
	t.Helper()
	switch {
	case err == nil:
		t.Errorf("%s: let through", what)
	case !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), why):
		t.Errorf("%s: refused, but not for %q: %v", what, why, err)
	}
}

func letThrough(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
}
