package drain

import (
	"context"
	"slices"
)

// Left lists, by one live read, namespace/name of the pods that would still have to go: the look just before a node is changed.
func (d *Drainer) Left(ctx context.Context, node string) ([]string, error) {
	pods, err := d.listPods(ctx, node)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, p := range pods {
		if goes(p) {
			names = append(names, keyOf(p).String())
		}
	}
	slices.Sort(names)
	return names, nil
}
