package helm

import (
	"cmp"
	"context"
	"maps"
	"time"

	"helm.sh/helm/v4/pkg/action"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/kube"
	release "helm.sh/helm/v4/pkg/release/v1"
)

// An Upgrade is a new version of a release.
type Upgrade struct {
	Chart        *Chart
	Values       map[string]any // all values that are not the chart's
	Capabilities Capabilities
	Rendering    Rendering // of this chart and these values
	// From is the revision whose objects stay until their wave.
	From int
	// Deletions are the approved ones.
	Deletions []Ref
	// HookTimeout bounds all hooks of an action together. Only the time that they run counts.
	HookTimeout time.Duration
}

// A Wave is a part of an upgrade.
type Wave struct {
	// Includes reports whether an object belongs to this wave or to one before it.
	Includes func(Ref) bool
	// Last is set for the last wave: it includes all objects, deletes those that the new version
	// does not have, and runs the hooks.
	Last bool
}

// Wave upgrades the objects of a wave and of those before it. The others stay as they are in the
// revision From; new ones are not created yet. Helm does not wait until objects are ready.
func (c *Client) Wave(ctx context.Context, mark Mark, u Upgrade, w Wave) error {
	s, history, complete, err := c.begin(ctx, mark)
	if err != nil {
		return c.failed("upgrade", err)
	}
	if len(history) == 0 {
		return ErrNoRelease
	}
	if complete {
		return nil
	}
	from, err := revision(history, u.From)
	if err != nil {
		return c.failed("upgrade", err)
	}
	old, err := objectsOf(from.Manifest, "", s.Namespace)
	if err != nil {
		return c.failed("upgrade", err)
	}
	old, _ = withoutCRDs(old)
	objects := mixed(old, u.Rendering.Objects, w)
	if err := s.guard(current(history), objects, u.Deletions); err != nil {
		return c.failed("upgrade", err)
	}
	partOf := ""
	if !w.Last {
		partOf = versionOf(from)
	}
	if err := s.upgrade(mark, u, append(objects, s.owned(u.Rendering.Hooks)...), partOf, w.Last); err != nil {
		return c.failed("upgrade", c.settle(s, err))
	}
	return nil
}

// mixed returns the new objects of the wave, and the old ones otherwise.
func mixed(old, rendered []Object, w Wave) []Object {
	if w.Last {
		return rendered
	}
	var objects []Object
	has := map[Ref]bool{}
	for _, object := range rendered {
		if w.Includes(object.Ref) {
			objects = append(objects, object)
			has[object.Ref] = true
		}
	}
	for _, object := range old {
		if !has[object.Ref] {
			objects = append(objects, object)
		}
	}
	return objects
}

// upgradesFrom is an annotation in the chart of a revision that has only a part of a new version.
// Its value is the version before. Unlike a label, it stays if Helm rolls back to the revision.
const upgradesFrom = "refit.dev/upgrades-from"

// versionOf returns the version that a revision has completely.
func versionOf(r *release.Release) string {
	if r.Chart == nil || r.Chart.Metadata == nil {
		return ""
	}
	return cmp.Or(r.Chart.Metadata.Annotations[upgradesFrom], r.Chart.Metadata.Version)
}

func (s *session) upgrade(mark Mark, u Upgrade, objects []Object, partOf string, hooks bool) error {
	content, err := u.Chart.open()
	if err != nil {
		return err
	}
	if partOf != "" {
		content.Metadata.Annotations = maps.Clone(content.Metadata.Annotations)
		if content.Metadata.Annotations == nil {
			content.Metadata.Annotations = map[string]string{}
		}
		content.Metadata.Annotations[upgradesFrom] = partOf
	}
	if s.config.Capabilities, err = u.Capabilities.helm(); err != nil {
		return err
	}
	s.kube.hooks = u.HookTimeout
	return s.replace(mark, content, u.Values, objects, hooks)
}

// replace writes a revision of a chart that has these objects, whatever the chart renders.
func (s *session) replace(mark Mark, content *chartv2.Chart, values map[string]any, objects []Object, hooks bool) error {
	run := action.NewUpgrade(s.config)
	run.Namespace, run.Description = s.Namespace, mark.String()
	run.ResetValues, run.SkipCRDs, run.DisableHooks = true, true, !hooks
	run.WaitStrategy = kube.HookOnlyStrategy
	run.PostRenderer = replacement(objects)
	// Without the context of the action: Helm would return and continue. The transport ends it.
	_, err := run.RunWithContext(context.WithoutCancel(s.ctx), s.Name, content, copyValues(values))
	return err
}
