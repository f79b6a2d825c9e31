package offer

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

// lookups reports a chart that reads from the cluster while it is rendered, unless that changes
// nothing: it reads only its own objects, and renders the same whether it finds them or not.
// Objects that only the new version has cannot be found: they must not exist.
func (o *Offer) lookups(ctx context.Context, in Input, u helm.Upgrade) error {
	if len(u.Rendering.Lookups) == 0 {
		return nil
	}
	var deployed []helm.Object
	if in.Deployed != nil {
		deployed = in.Deployed.Objects
	}
	found, err := helm.Render(ctx, u.Chart, u.Values, helm.Release(in.Component.Release), in.Capabilities, in.Action != component.Install, deployed...)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		o.add(renderProblem(err, len(in.Spec.ValuesFrom) > 0))
		return nil
	}
	if others := others(slices.Concat(u.Rendering.Lookups, found.Lookups), slices.Concat(deployed, u.Rendering.Objects)); len(others) > 0 {
		o.add(problem("ChartReadsCluster", others[0],
			"the chart reads %s from the cluster while it is rendered, so that its changes are not known before", list(others)))
		return nil
	}
	if !sameObjects(u.Rendering, found) {
		read := others(u.Rendering.Lookups, nil)
		o.add(problem("ChartReadsCluster", read[0],
			"the chart reads %s from the cluster while it is rendered, and keeps some of its content", list(read)))
	}
	return nil
}

// others returns what a chart reads beside some objects, as text.
func others(lookups []helm.Ref, objects []helm.Object) (texts []string) {
	for _, ref := range lookups {
		if !slices.ContainsFunc(objects, func(o helm.Object) bool { return o.Ref == ref }) {
			texts = append(texts, strings.TrimSuffix(ref.String(), "/"))
		}
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

func sameObjects(a, b helm.Rendering) bool {
	return reflect.DeepEqual(a.Objects, b.Objects) && reflect.DeepEqual(a.Hooks, b.Hooks) && reflect.DeepEqual(a.CRDs, b.CRDs)
}
