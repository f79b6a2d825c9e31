package trial

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RemoveLeft removes the Pods that somebody left who died, but for those of nodes that are being tried: their trials see to them.
func (r *Runner) RemoveLeft(ctx context.Context, tried func(ctx context.Context, node string) (bool, error)) error {
	found, err := r.client.CoreV1().Pods(Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing the Pods of trials: %w", err)
	}
	for i := range found.Items {
		pod := &found.Items[i]
		keep, err := tried(ctx, pod.Name)
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
