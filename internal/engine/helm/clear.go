package helm

import (
	"context"
	"slices"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	release "helm.sh/helm/v4/pkg/release/v1"
)

// Clear writes a revision that has only some objects of another one, so that Helm deletes the rest.
// It renders nothing: the chart may not accept the version of Kubernetes or its values any more.
func (c *Client) Clear(ctx context.Context, mark Mark, from int, capabilities Capabilities, deletions []Ref, stays func(Ref) bool) error {
	s, history, complete, err := c.begin(ctx, mark)
	if err != nil {
		return c.failed("clear", err)
	}
	if len(history) == 0 {
		return ErrNoRelease
	}
	if complete {
		return nil
	}
	old, err := revision(history, from)
	if err != nil {
		return c.failed("clear", err)
	}
	objects, err := objectsOf(old.Manifest, "", s.Namespace)
	if err != nil {
		return c.failed("clear", err)
	}
	objects = slices.DeleteFunc(objects, func(o Object) bool { return !stays(o.Ref) })
	if err := s.guard(current(history), objects, deletions); err != nil {
		return c.failed("clear", err)
	}
	if s.config.Capabilities, err = capabilities.helm(); err != nil {
		return c.failed("clear", err)
	}
	if err := s.replace(mark, withoutTemplates(old), old.Config, objects, false); err != nil {
		return c.failed("clear", c.settle(s, err))
	}
	return nil
}

// withoutTemplates returns the chart of a revision with its metadata alone.
func withoutTemplates(r *release.Release) *chartv2.Chart {
	metadata := chartv2.Metadata{APIVersion: chartv2.APIVersionV2, Name: r.Name, Version: "0.0.0"}
	if r.Chart != nil && r.Chart.Metadata != nil {
		metadata = *r.Chart.Metadata
	}
	metadata.KubeVersion, metadata.Dependencies = "", nil
	return &chartv2.Chart{Metadata: &metadata}
}
