package components

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestWhatAStepWaitsForHasNoSecrets(t *testing.T) {
	_, c := newWorld(t, frozen(refitv1alpha1.PermitApply))
	j, err := readJournal(t.Context(), c, name, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.wait(t.Context(), "cannot log in: password=hunter2"); err != nil {
		t.Fatal(err)
	}
	if got := j.object.Status.Waiting; !strings.HasPrefix(got, "cannot log in") || strings.Contains(got, "hunter2") {
		t.Errorf("waiting is %q", got)
	}
}

// TestAJournalThatAnotherProcessKeepsWriting returns to the worker, which waits.
func TestAJournalThatAnotherProcessKeepsWriting(t *testing.T) {
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	writes := 0
	order := &refitv1alpha1.ComponentUpgrade{
		ObjectMeta: metav1.ObjectMeta{Name: "app"},
		Spec:       refitv1alpha1.ComponentUpgradeSpec{Sequence: 1, Permit: refitv1alpha1.PermitApply},
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(order).WithStatusSubresource(order).WithInterceptorFuncs(interceptor.Funcs{
		SubResourceUpdate: func(ctx context.Context, c client.Client, subresource string, object client.Object, options ...client.SubResourceUpdateOption) error {
			writes++
			var other refitv1alpha1.ComponentUpgrade
			if err := c.Get(ctx, client.ObjectKeyFromObject(object), &other); err != nil {
				return err
			}
			other.Status.Left = []string{fmt.Sprint(writes)}
			if err := c.SubResource(subresource).Update(ctx, &other, options...); err != nil {
				return err
			}
			return apierrors.NewConflict(schema.GroupResource{}, object.GetName(), nil)
		},
	}).Build()
	r := &Runner{client: c, log: slog.New(slog.DiscardHandler), now: time.Now}
	if err := r.Run(t.Context(), "app"); !errors.Is(err, errSecondWriter) || writes != maxRereads+1 {
		t.Errorf("Run() = %v after %d writes", err, writes)
	}
}
