//go:build e2e

package upgrade

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
)

// operation is a ClusterUpgrade, observed through the API.
type operation struct {
	s     *site
	name  string
	begun time.Time
}

// change modifies the default ClusterUpgrade, which upgrades everything to the newer version
// without approval.
type change func(*refitv1alpha1.ClusterUpgradeSpec)

// ask creates a ClusterUpgrade, as kubectl does.
func (s *site) ask(t *testing.T, name string, changes ...change) *operation {
	t.Helper()
	spec := refitv1alpha1.ClusterUpgradeSpec{
		Target: refitv1alpha1.Target{Kubernetes: newer}, Approval: refitv1alpha1.ApprovalNone, Waivers: []refitv1alpha1.Waiver{bareMayEnd},
	}
	for _, c := range changes {
		c(&spec)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&refitv1alpha1.ClusterUpgrade{
		TypeMeta:   metav1.TypeMeta{APIVersion: refitv1alpha1.GroupVersion.String(), Kind: "ClusterUpgrade"},
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec,
	})
	must(t, err)
	_, err = s.Objects.Resource(bed.Operations).Create(t.Context(), &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
	must(t, err)
	return s.operation(name)
}

// operation returns an operation that exists or will exist.
func (s *site) operation(name string) *operation {
	return &operation{s: s, name: name, begun: time.Now()}
}

// waits waits until the operation is as wanted, and logs its messages on the way. It fails as soon
// as the operation has ended otherwise.
func (o *operation) waits(t *testing.T, what string, deadline time.Duration, wanted func(*refitv1alpha1.ClusterUpgrade) bool) *refitv1alpha1.ClusterUpgrade {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	var last refitv1alpha1.ClusterUpgrade
	said, ended := "", false
	err := bed.Follow(ctx, o.s.Bed, bed.Operations, o.name, func(u *refitv1alpha1.ClusterUpgrade) bool {
		last = *u
		if now := fmt.Sprintf("%s %d/%d: %s", u.Status.Phase, u.Status.Nodes.Done, u.Status.Nodes.Total, u.Status.Message); now != said {
			said = now
			t.Logf("%6.1f s  %s %s", time.Since(o.begun).Seconds(), o.name, said)
		}
		as := wanted(u)
		ended = !as && u.HasEnded()
		return as || ended
	})
	if ended {
		t.Fatalf("waited for %s, but the operation has ended: %q, %q", what, last.Status.Phase, last.Status.Message)
	}
	if err != nil {
		t.Fatalf("waited %s for %s: %q, %q, %v: %v", deadline, what, last.Status.Phase, last.Status.Message, last.Status.Conditions, err)
	}
	return &last
}

// reaches waits until the operation is in a phase and its status covers the current generation.
func (o *operation) reaches(t *testing.T, phase refitv1alpha1.Phase) *refitv1alpha1.ClusterUpgrade {
	t.Helper()
	return o.waits(t, "the phase "+string(phase), whole, func(u *refitv1alpha1.ClusterUpgrade) bool {
		return u.Status.Phase == phase && u.Status.ObservedGeneration == u.Generation
	})
}

// remove deletes the object without waiting until it is gone.
func (o *operation) remove(t *testing.T) {
	t.Helper()
	must(t, o.s.Objects.Resource(bed.Operations).Delete(t.Context(), o.name, metav1.DeleteOptions{}))
}

// gone waits until the object is gone.
func (o *operation) gone(t *testing.T) {
	t.Helper()
	must(t, until(t.Context(), o.name+" to be gone", whole, func(ctx context.Context) error {
		_, err := bed.Get[refitv1alpha1.ClusterUpgrade](ctx, o.s.Bed, bed.Operations, o.name)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(err, errors.New("it is there"))
	}))
}

// does waits until the operation's message contains these words.
func (o *operation) does(t *testing.T, words ...string) {
	t.Helper()
	o.waits(t, "words about "+strings.Join(words, ", "), whole, func(u *refitv1alpha1.ClusterUpgrade) bool {
		for _, word := range words {
			if !strings.Contains(u.Status.Message, word) {
				return false
			}
		}
		return true
	})
}
