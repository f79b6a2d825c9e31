package install

import (
	"bytes"
	"os"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// refit backup prune writes status.deleted. With the same permission, a status can state that a
// backup is proven, which opens the gate BackupProven: only approvers have it.
func TestOnlyApproversWriteTheStatusOfEtcdBackups(t *testing.T) {
	text, err := os.ReadFile("../../../config/rbac/users.yaml")
	if err != nil {
		t.Fatal(err)
	}
	may := map[string]bool{}
	for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
		var role rbacv1.ClusterRole
		if err := yaml.UnmarshalStrict(document, &role); err != nil {
			t.Fatal(err)
		}
		may[role.Name] = slices.ContainsFunc(role.Rules, func(r rbacv1.PolicyRule) bool {
			return slices.Contains(r.Resources, "etcdbackups/status") && slices.Contains(r.Verbs, "patch")
		})
	}
	for role, want := range map[string]bool{"refit-viewer": false, "refit-operator": false, "refit-approver": true} {
		if got, found := may[role]; got != want || !found {
			t.Errorf("%s may patch etcdbackups/status: %t, want %t", role, got, want)
		}
	}
}
