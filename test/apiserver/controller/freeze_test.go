//go:build apiserver

package controller

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// The controller lifts a freeze that outlives its limit, with the permissions of an installed one.
func TestAFreezeThatIsOverdue(t *testing.T) {
	b := newBed(t)
	digest := "sha256:" + strings.Repeat("0", 64)
	u := &refitv1alpha1.ComponentUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "gateway"}, Spec: refitv1alpha1.ComponentUpgradeSpec{
		Operation: refitv1alpha1.Operation{Name: "deleted", UID: "00000000-0000-0000-0000-000000000000"}, Sequence: 1, Epoch: 1,
		Release: refitv1alpha1.ReleaseRef{Name: "release", Digest: digest}, Version: "v1.2.0", Action: refitv1alpha1.ActionUpgrade,
		Kubernetes: to, Digest: digest, Permit: refitv1alpha1.PermitApply,
	}}
	must(t, b.client.Create(t.Context(), u))
	t.Cleanup(func() { _ = b.client.Delete(context.WithoutCancel(t.Context()), u) })
	since := metav1.NewTime(time.Now().Add(-time.Hour).UTC().Truncate(time.Second))
	u.Status.Frozen = &refitv1alpha1.FrozenStatus{Since: since, Limit: metav1.Duration{Duration: time.Minute}}
	must(t, b.client.Status().Update(t.Context(), u))
	b.controllers()
	b.wait("the freeze is lifted", func() (bool, string) {
		must(t, b.client.Get(t.Context(), client.ObjectKeyFromObject(u), u))
		return u.Spec.Thaw && u.Spec.Sequence == 2, fmt.Sprintf("%+v", u.Spec)
	})
}
