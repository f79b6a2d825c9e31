package steps

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/refit-dev/refit/internal/components/offer"
	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/engine/object"
	"github.com/refit-dev/refit/internal/upgrade/component"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// wave upgrades the objects of a wave, and waits until they are ready. An installation has one
// revision: its last wave installs everything.
func wave(ctx context.Context, r *Run, step component.Step) error {
	found, err := r.rendered(ctx)
	if err != nil {
		return err
	}
	w := r.waveOf(step)
	switch {
	case r.installs() && !w.Last:
		return nil
	case r.installs():
		err = r.helm().Install(ctx, r.mark(step.Name), found.Upgrade)
	default:
		err = r.helm().Wave(ctx, r.mark(step.Name), found.Upgrade, w)
	}
	if err != nil {
		return err
	}
	return r.await(ctx, func(ctx context.Context) error { return r.ready(ctx, found.Upgrade.Rendering.Objects, w) })
}

// waveOf returns the wave of a step: its objects and those of the waves before it.
func (r *Run) waveOf(step component.Step) helm.Wave {
	var patterns []string
	for _, s := range r.Steps {
		if s.Kind == component.StepWave && s.Wave <= step.Wave {
			patterns = append(patterns, s.Recipe.Wave.Objects...)
		}
	}
	last := len(step.Recipe.Wave.Objects) == 0
	return helm.Wave{Last: last, Includes: func(ref helm.Ref) bool { return last || includes(patterns, ref) }}
}

// rbacGroup is the group of the objects that rbac/* selects.
const rbacGroup = "rbac.authorization.k8s.io"

// includes reports whether a pattern KIND/NAME selects an object.
func includes(patterns []string, ref helm.Ref) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		kind, name, _ := strings.Cut(pattern, "/")
		if kind == "rbac" {
			return ref.Group == rbacGroup || ref.Group == "" && ref.Kind == "ServiceAccount"
		}
		prefix, isPrefix := strings.CutSuffix(name, "*")
		return ref.Kind == kind && (ref.Name == name || isPrefix && strings.HasPrefix(ref.Name, prefix))
	})
}

// ready waits until the objects of a wave are ready.
func (r *Run) ready(ctx context.Context, objects []helm.Object, w helm.Wave) error {
	return r.readyOr(ctx, objects, w, r.Waiting)
}

// readyOr is ready with another report of what it waits for.
func (r *Run) readyOr(ctx context.Context, objects []helm.Object, w helm.Wave, waiting func(string)) error {
	var waited []*unstructured.Unstructured
	for _, object := range objects {
		if w.Last || w.Includes(object.Ref) {
			waited = append(waited, object.Content)
		}
	}
	return r.editor().WaitAll(ctx, waited, r.release().Namespace, waiting)
}

// undoWave returns to the revision before a wave. The first one of an installation has none before
// it: what was installed is deleted.
func undoWave(ctx context.Context, r *Run, step component.Step) error {
	if err := r.keepExisted(ctx); err != nil {
		return err
	}
	if r.installs() {
		return r.helm().Uninstall(ctx, r.mark(""))
	}
	to, before, err := r.before(ctx, step)
	if err != nil {
		return err
	}
	newest, err := r.helm().Newest(ctx)
	if err != nil {
		return err
	}
	if newest.Revision == to && newest.Status == "deployed" { // the wave wrote nothing, maybe since Helm cannot read the manifest
		return nil
	}
	timeout := offer.HookTimeout
	if before != nil { // hooks run once, at the end
		timeout = 0
	}
	if err := r.helm().Rollback(ctx, r.mark(step.Name), to, r.saved.Created, timeout); err != nil {
		return err
	}
	record, err := r.helm().Revision(ctx, to)
	if err != nil {
		return err
	}
	return r.restored(ctx, step, record.Objects, r.waveOf(step))
}

// restored waits until objects are ready again. If they do not become ready, that is reported, and
// the rollback goes on: what is left to undo may be the cause, and verify-old decides at the end.
func (r *Run) restored(ctx context.Context, step component.Step, objects []helm.Object, w helm.Wave) error {
	err := r.ready(ctx, objects, w)
	unready, is := errors.AsType[*object.NotReadyError](err)
	if !is || ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.DeadlineExceeded) { // the limit of the freeze repeats the step
		return err
	}
	r.leaveUnready(step, unready)
	return nil
}

func (r *Run) leaveUnready(step component.Step, unready *object.NotReadyError) {
	r.leave(r.Hide(node.Redact(fmt.Sprintf("%s: %v", step.Name, unready))))
}

// WasUnready reports whether a text of Left is of objects that did not become ready during a
// rollback.
func WasUnready(left string) bool {
	step, _, found := strings.Cut(left, ": ")
	return found && component.Undoes(step)
}

// keepExisted keeps objects that existed before the upgrade, such as those of a former revision:
// for Helm, the upgrade has created them.
func (r *Run) keepExisted(ctx context.Context) error {
	stay, err := r.helm().Keep(ctx, r.saved.Existed)
	for _, ref := range stay {
		r.leave(fmt.Sprintf("%s existed before the upgrade: it stays, with what the upgrade has changed in it", ref))
	}
	return err
}

// before returns the revision before a wave, and the step that wrote it; nil for the saved one.
func (r *Run) before(ctx context.Context, step component.Step) (int, *component.Step, error) {
	for i := range slices.Backward(r.Steps) {
		s := &r.Steps[i]
		if s.Kind != component.StepWave || s.Wave >= step.Wave {
			continue
		}
		revision, err := r.helm().RevisionOf(ctx, r.mark(s.Name))
		if err != nil || revision > 0 {
			return revision, s, err
		}
	}
	return r.saved.Revision, nil, nil
}
