package steps

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/engine/object"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

// verifyInterval is how often the component is read while it must hold.
const verifyInterval = time.Second

// verify waits until the new version is healthy, and holds for the time of the recipe.
func verify(ctx context.Context, r *Run, step component.Step) error {
	return r.await(ctx, func(ctx context.Context) error { return waitHealthy(ctx, r, step) })
}

func waitHealthy(ctx context.Context, r *Run, step component.Step) error {
	found, err := r.rendered(ctx)
	if err != nil {
		return err
	}
	return r.staysHealthy(ctx, step.Recipe.Verify, found.Upgrade.Rendering)
}

// staysHealthy waits until the component is healthy, and stays so for the time of the recipe.
func (r *Run) staysHealthy(ctx context.Context, v *refitv1alpha1.RecipeVerify, rendering helm.Rendering) error {
	var since time.Time
	var last error
	var unstable string // what it was last waited for again
	err := wait.PollUntilContextCancel(ctx, verifyInterval, true, func(ctx context.Context) (bool, error) {
		waitedFor, err := r.healthy(ctx, v, rendering)
		unready, notReady := errors.AsType[*object.NotReadyError](err)
		if ctx.Err() == nil || notReady {
			last = err
		}
		if notReady && unready.Failed() {
			return false, err
		}
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if last != nil {
			since = time.Time{}
			r.Waiting(last.Error())
			return false, nil //nolint:nilerr // it is tried again until the limit of the step
		}
		if !since.IsZero() && waitedFor != "" {
			since, unstable = time.Time{}, waitedFor
		}
		if since.IsZero() {
			since = time.Now()
		}
		if rest := v.Soak.Duration - time.Since(since); rest > 0 {
			r.Waiting(fmt.Sprintf("everything must stay healthy for %s", v.Soak.Duration))
			return false, nil
		}
		return true, nil
	})
	if err != nil && last != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return last
	}
	if err != nil && unstable != "" {
		return fmt.Errorf("the component does not stay healthy for %s: %s: %w", v.Soak.Duration, unstable, err)
	}
	return err
}

// healthy waits until the objects are ready, and returns why the component is not healthy, and what
// it had to wait for.
func (r *Run) healthy(ctx context.Context, v *refitv1alpha1.RecipeVerify, rendering helm.Rendering) (waitedFor string, err error) {
	if v.Ready == refitv1alpha1.VerifyAll {
		waiting := func(what string) {
			waitedFor = what
			r.Waiting(what)
		}
		if err := r.readyOr(ctx, rendering.Objects, helm.Wave{Last: true}, waiting); err != nil {
			return waitedFor, err
		}
	}
	if v.Images == refitv1alpha1.VerifyOnlyOfRelease {
		return waitedFor, r.images(ctx, rendering)
	}
	return waitedFor, nil
}

// otherImageError is a pod of the component with an image that its new version does not have.
type otherImageError struct{ pod, image string }

func (e *otherImageError) Error() string {
	return fmt.Sprintf("Pod %s runs the image %s, which the new version does not have", e.pod, e.image)
}

// images returns an error if a pod of the component runs an image of another version. Pods that are
// being deleted or have ended, such as evicted ones, do not count: nothing deletes the latter.
func (r *Run) images(ctx context.Context, rendering helm.Rendering) error {
	for _, o := range rendering.Objects {
		selector, namespace := object.PodsOf(o.Content), o.Namespace
		if selector == nil {
			continue
		}
		if namespace == "" {
			namespace = r.release().Namespace
		}
		var pods corev1.PodList
		if err := r.client.List(ctx, &pods, client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
			return fmt.Errorf("cannot list the pods of %s: %w", o.Ref, err)
		}
		for i := range pods.Items {
			pod := &pods.Items[i]
			if pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
				continue
			}
			for _, container := range notInjected(pod, o.Content) {
				if !slices.Contains(rendering.Images, container.Image) && !slices.Contains(r.Component.Images, container.Image) {
					return &otherImageError{pod.Namespace + "/" + pod.Name, container.Image}
				}
			}
		}
	}
	return nil
}

// notInjected returns the containers of a pod that its workload has: others can be injected, such
// as the proxy of a service mesh. All containers of a pod count that has none of them.
func notInjected(pod *corev1.Pod, workload *unstructured.Unstructured) []corev1.Container {
	var names []any
	for _, field := range []string{"initContainers", "containers"} {
		list, _, _ := unstructured.NestedSlice(workload.Object, "spec", "template", "spec", field)
		for _, item := range list {
			if c, ok := item.(map[string]any); ok {
				names = append(names, c["name"])
			}
		}
	}
	all := slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers)
	own := slices.DeleteFunc(slices.Clone(all), func(c corev1.Container) bool { return !slices.Contains(names, any(c.Name)) })
	if len(own) == 0 {
		return all
	}
	return own
}

// verifyOld waits until the old version is healthy again.
func verifyOld(ctx context.Context, r *Run, _ component.Step) error {
	if r.installs() {
		return nil
	}
	record, err := r.helm().Deployed(ctx)
	if err != nil {
		return err
	}
	return r.ready(ctx, record.Objects, helm.Wave{Last: true})
}
