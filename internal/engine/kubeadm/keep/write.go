package keep

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/refit-dev/refit/internal/upgrade/drift"
)

// Change is a changed ClusterConfiguration.
type Change struct {
	// Diff is the change without secret values, as a unified diff. It is empty if nothing changes.
	Diff string

	observed *Observation
	text     string
}

// Edit returns the ClusterConfiguration with the additions of a decision.
func (o *Observation) Edit(d drift.Decision) (*Change, error) {
	if len(d.Kept) == 0 {
		return &Change{}, nil
	}
	before := o.config.Data[configKey]
	after, err := edit(before, d.Kept)
	if err != nil {
		return nil, err
	}
	shown, err := redacted(before, after)
	if err != nil {
		return nil, err
	}
	diff, err := unified(configMap+"/"+configKey, shown[0], shown[1])
	return &Change{Diff: diff, observed: o, text: after}, err
}

// Write writes a change. It fails if the ConfigMap was changed since it was read.
func (c *Cluster) Write(ctx context.Context, change *Change) error {
	config := change.observed.config.DeepCopy()
	patch := client.MergeFromWithOptions(change.observed.config, client.MergeFromWithOptimisticLock{})
	config.Data[configKey] = change.text
	err := c.Client.Patch(ctx, config, patch)
	if apierrors.IsConflict(err) {
		return fmt.Errorf("the ConfigMap %s was changed since it was read: run the command again", configMap)
	}
	if err != nil {
		return fmt.Errorf("cannot write the ConfigMap %s: %w", configMap, err)
	}
	return nil
}
