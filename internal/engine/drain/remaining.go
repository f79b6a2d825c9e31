package drain

import (
	"context"
	"slices"
)

// Remaining lists the pods that must still leave a node as NAMESPACE/NAME, with one live read: the
// last check before the node changes.
func (d *Drainer) Remaining(ctx context.Context, node string) ([]string, error) {
	pods, err := d.listPods(ctx, node)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, p := range pods {
		if mustLeave(p) {
			names = append(names, keyOf(p).String())
		}
	}
	slices.Sort(names)
	return names, nil
}
