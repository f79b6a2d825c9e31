//go:build apiserver

package observe

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/refit-dev/refit/config"
	"github.com/refit-dev/refit/internal/engine/observe"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/test/apiserver"
)

// A planner reads what an administrator does, apart from Secrets, and the role has nothing else.
func TestAPlannerHasThePermissionsOfACheckAndNoOthers(t *testing.T) {
	s := apiserver.Start(t, apiserver.Options{Audit: true})
	world(t, s, listenAsAPIServer(t).address)
	roles := userRoles(t)
	for _, role := range []string{"refit-viewer", "refit-planner"} {
		s.Load(t, 1, slices.Values([]runtime.Object{roles[role], &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: role}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "planner"}},
		}}))
	}
	admin, planner := snapshotOf(t, s, "admin", "system:masters"), snapshotOf(t, s, "planner")
	for _, gap := range planner.Gaps {
		known := slices.ContainsFunc(admin.Gaps, func(g cluster.Gap) bool { return g.Part == gap.Part && g.Object == gap.Object })
		if !known && gap.Part != cluster.PartHelm && !strings.Contains(gap.Message, "pods/proxy") {
			t.Errorf("a planner cannot read %+v", gap)
		}
	}
	requests := s.AuditOf(t, "planner")
	for _, rule := range roles["refit-planner"].Rules {
		for _, verb := range rule.Verbs {
			for _, path := range pathsOf(rule) {
				if !slices.ContainsFunc(requests, func(e apiserver.Event) bool { return e.Verb == verb && strings.Contains(e.URI+"?", path) }) {
					t.Errorf("a check does not need to %s %s", verb, strings.Trim(path, "/?"))
				}
			}
		}
	}
}

// pathsOf returns a part of the path of a request for each resource of a rule. A check reads a
// ConfigMap only if others refer to it.
func pathsOf(rule rbacv1.PolicyRule) (out []string) {
	for _, resource := range rule.Resources {
		if len(rule.ResourceNames) > 0 || slices.Contains(rule.Verbs, "get") {
			out = append(out, "/"+resource+"/")
		} else {
			out = append(out, "/"+resource+"?")
		}
	}
	return append(out, rule.NonResourceURLs...)
}

func snapshotOf(t *testing.T, s *apiserver.Server, user string, groups ...string) *cluster.Snapshot {
	t.Helper()
	reader, err := observe.New(s.As(t, user, groups...), observe.Options{})
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), checkTimeout)
	defer cancel()
	got, err := reader.Snapshot(ctx, "")
	must(t, err)
	return got
}

// userRoles returns the roles for users.
func userRoles(t *testing.T) map[string]*rbacv1.ClusterRole {
	t.Helper()
	raw, err := config.Files.ReadFile("rbac/users.yaml")
	must(t, err)
	out := map[string]*rbacv1.ClusterRole{}
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(raw), len(raw)); ; {
		role := &rbacv1.ClusterRole{}
		err := decoder.Decode(role)
		if errors.Is(err, io.EOF) {
			return out
		}
		must(t, err)
		out[role.Name] = role
	}
}
