package trial

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DeleteOrphans deletes the Pods of trials that were interrupted, except on nodes whose trial is
// active: that trial deletes its own.
func (r *Runner) DeleteOrphans(ctx context.Context, active func(ctx context.Context, node string) (bool, error)) error {
	found, err := r.client.CoreV1().Pods(Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("cannot list the Pods of trials: %w", err)
	}
	for i := range found.Items {
		pod := &found.Items[i]
		keep, err := active(ctx, pod.Name)
		if err != nil {
			return err
		}
		if keep {
			continue
		}
		if err := r.delete(ctx, pod); err != nil {
			return err
		}
	}
	return nil
}
