//go:build apiserver

package crd

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/internal/engine/crd"
	"github.com/refit-dev/refit/test/apiserver"
)

// widened defines a CRD with one object, and saves it for an upgrade that adds the field b.
func widened(t *testing.T) (*lane, *crd.Definition) {
	t.Helper()
	l := newLane(t)
	live := l.define(t, l.crd("Widget", version("v1", properties{"a": text})))
	l.create(t, live, l.object(live, "v1", "first", map[string]any{"a": "1"}))
	l.save(l.crd("Widget", version("v1", properties{"a": text, "b": text})))
	return l, live
}

// beyond defines a CRD with one object, and saves it for an upgrade whose storage version has a
// field that the old one lacks.
func beyond(t *testing.T) *lane {
	t.Helper()
	l := newLane(t)
	live := l.define(t, l.crd("Widget", version("v1", properties{"a": text})))
	l.create(t, live, l.object(live, "v1", "first", map[string]any{"a": "1"}))
	l.save(l.crd("Widget", version("v1", properties{"a": text}), version("v2", properties{"a": text, "extra": text})))
	return l
}

// edit changes a CRD as somebody else does.
func (l *lane) edit(name string, change func(*crd.Definition)) {
	l.t.Helper()
	poll(l.t, func(ctx context.Context) error {
		live := l.definition(ctx, l.t, name)
		change(live)
		_, err := l.client.Resource(definitions).Update(ctx, encode(l.t, live), metav1.UpdateOptions{FieldManager: "somebody"})
		return err
	})
}

// refusedWith runs an action that must fail without a write.
func refusedWith[E error](l *lane, a action) E {
	l.t.Helper()
	k := &apiserver.Killer{}
	err := a.run(l.bounded(), l.actor(k))
	var want E
	if !errors.As(err, &want) || k.Writes() != 0 {
		l.t.Fatalf("%s returned %v, with %d writes", a.name, err, k.Writes())
	}
	return want
}

func TestARollbackThatLosesFieldsNamesThem(t *testing.T) {
	t.Parallel()
	l, _ := widened(t)
	l.clean(l.expand())
	l.create(t, l.changes[0].New, l.object(l.changes[0].New, "v1", "second", map[string]any{"a": "1", "b": "2"}))
	before := l.state()
	loss := refusedWith[*crd.LossError](l, l.restore())
	if !strings.Contains(loss.Error(), "default/second: the new CRD has no field spec.b and drops it") || strings.Contains(loss.Error(), "default/first") {
		t.Errorf("the error is %v", loss)
	}
	found := loss.Reports[l.changes[0].New.Name]
	if found == nil || found.Total != 1 || found.Dropping != 1 || found.Objects != 2 || found.Findings[0].Object != "default/second" || found.Findings[0].Field != "spec.b" {
		t.Errorf("the report is %+v", found)
	}
	if l.state() != before {
		t.Error("the refused rollback changed something")
	}
	_, err := l.actor(&apiserver.Killer{}).Restore(l.bounded(), l.changes, crd.RestoreOptions{Waive: true})
	must(t, err)
	if live := l.definition(t.Context(), t, l.changes[0].New.Name); len(live.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties) != 1 {
		t.Error("a waiver does not restore the CRD")
	}
}

func TestARollbackUnderWhichObjectsAreRefusedNamesThem(t *testing.T) {
	t.Parallel()
	l := newLane(t)
	enum := func(values ...string) properties {
		field := text
		for _, value := range values {
			field.Enum = append(field.Enum, apiextensionsv1.JSON{Raw: []byte(`"` + value + `"`)})
		}
		return properties{"a": field}
	}
	l.define(t, l.crd("Widget", version("v1", enum("x"))))
	l.save(l.crd("Widget", version("v1", enum("x", "y"))))
	l.clean(l.expand())
	l.create(t, l.changes[0].New, l.object(l.changes[0].New, "v1", "new", map[string]any{"a": "y"}))
	loss := refusedWith[*crd.LossError](l, l.restore())
	if !strings.Contains(loss.Error(), "default/new: the new CRD refuses spec.a") || loss.Reports[l.changes[0].New.Name].Refused != 1 {
		t.Errorf("the error is %v", loss)
	}
}

func TestFieldsOfTheNewStorageVersionAreNamedBeforeTheyAreLost(t *testing.T) {
	t.Parallel()
	l := beyond(t)
	l.clean(l.expand())
	created := l.create(t, l.changes[0].New, l.object(l.changes[0].New, "v2", "second", map[string]any{"a": "1", "extra": "2"}))
	if value := created.Object["spec"].(map[string]any)["extra"]; value != "2" {
		t.Fatalf("the new CRD stores %v", value)
	}
	loss := refusedWith[*crd.LossError](l, l.unflip())
	if !strings.Contains(loss.Error(), "default/second: the new CRD has no field spec.extra and drops it in version v1") {
		t.Errorf("the error is %v", loss)
	}
	_ = refusedWith[*crd.LossError](l, l.restore()) // the API server would refuse it
	for _, content := range l.stored() {
		if strings.Contains(content, `"second"`) && !strings.Contains(content, `"extra":"2"`) {
			t.Errorf("etcd has %s", content)
		}
	}
	must(t, l.client.Resource(resourceOf(l.changes[0].New, "v2")).Namespace("default").Delete(t.Context(), "second", metav1.DeleteOptions{}))
	l.clean(l.unflip())
	l.clean(l.restore())
}

func TestACRDThatSomebodyElseChangesIsNotOverwritten(t *testing.T) {
	t.Parallel()
	theirs := func(d *crd.Definition) {
		d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["theirs"] = text
	}
	for situation, tt := range map[string]struct {
		before func(l *lane) // what is done before
		action func(l *lane) action
	}{
		"before an expansion":    {func(*lane) {}, (*lane).expand},
		"before a commit":        {func(l *lane) { l.clean(l.expand()) }, (*lane).commit},
		"before a reversal":      {func(l *lane) { l.clean(l.expand()) }, (*lane).unflip},
		"before a restoration":   {func(l *lane) { l.clean(l.expand()); l.clean(l.unflip()) }, (*lane).restore},
		"between two expansions": {func(l *lane) { l.clean(l.expand()) }, (*lane).expand},
	} {
		t.Run(situation, func(t *testing.T) {
			t.Parallel()
			l := beyond(t)
			l.t = t
			tt.before(l)
			l.edit(l.changes[0].New.Name, theirs)
			before := l.state()
			_ = refusedWith[*crd.ChangedError](l, tt.action(l))
			if l.state() != before {
				t.Error("the refused action changed something")
			}
		})
	}
}

func TestACRDThatSomebodyElseRecreatesIsNotChanged(t *testing.T) {
	t.Parallel()
	l, live := widened(t)
	must(t, l.client.Resource(definitions).Delete(t.Context(), live.Name, metav1.DeleteOptions{}))
	poll(t, func(ctx context.Context) error {
		_, err := l.client.Resource(definitions).Get(ctx, live.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.New("the CRD exists")
	})
	_ = refusedWith[*crd.ChangedError](l, l.expand())
	l.define(t, l.crd("Widget", version("v1", properties{"a": text})))
	_ = refusedWith[*crd.ChangedError](l, l.expand())
	_ = refusedWith[*crd.ChangedError](l, l.unflip())
	_ = refusedWith[*crd.ChangedError](l, l.restore())
}

func TestLabelsOfOthersSurviveAnUpgradeAndItsRollback(t *testing.T) {
	t.Parallel()
	l, live := widened(t)
	l.changes[0].New.Labels = map[string]string{"new": "1"}
	l.edit(live.Name, func(d *crd.Definition) { d.Annotations = map[string]string{"theirs": "1"} })
	l.clean(l.expand())
	if got := l.definition(t.Context(), t, live.Name); got.Labels["new"] != "1" || got.Annotations["theirs"] != "1" {
		t.Errorf("after the upgrade: labels %v, annotations %v", got.Labels, got.Annotations)
	}
	l.edit(live.Name, func(d *crd.Definition) { d.Labels["theirs"] = "2" })
	l.clean(l.restore())
	got := l.definition(t.Context(), t, live.Name)
	if len(got.Labels) != 1 || got.Annotations["theirs"] != "1" || got.Labels["theirs"] != "2" || got.Annotations["helm.sh/resource-policy"] != "keep" {
		t.Errorf("labels %v, annotations %v", got.Labels, got.Annotations)
	}
}

// An intruder changes a CRD between a read and the first write of a process.
type intruder struct {
	once   sync.Once
	change func()
	next   http.RoundTripper
}

func (i *intruder) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodPut || request.Method == http.MethodDelete {
		i.once.Do(i.change)
	}
	return i.next.RoundTrip(request)
}

// intruded returns an actor before whose first write somebody changes something.
func (l *lane) intruded(change func()) *crd.Actor {
	l.t.Helper()
	config := rest.CopyConfig(l.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &intruder{change: change, next: next} })
	actor, err := crd.NewActor(config, "refit")
	must(l.t, err)
	return actor
}

func TestACRDThatChangesDuringAWriteIsNotOverwritten(t *testing.T) {
	t.Parallel()
	l, live := widened(t)
	actor := l.intruded(func() {
		l.edit(live.Name, func(d *crd.Definition) {
			d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["theirs"] = text
		})
	})
	var changed *crd.ChangedError
	if _, err := actor.Expand(l.bounded(), l.changes); !errors.As(err, &changed) {
		t.Errorf("Expand() = %v", err)
	}
	got := l.definition(t.Context(), t, live.Name)
	if _, kept := got.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["theirs"]; !kept {
		t.Error("the change of somebody else is lost")
	}
	l, live = widened(t)
	actor = l.intruded(func() { l.edit(live.Name, func(d *crd.Definition) { d.Labels = map[string]string{"theirs": "1"} }) })
	if _, err := actor.Expand(l.bounded(), l.changes); err != nil {
		t.Errorf("a label of somebody else: Expand() = %v", err)
	}
	if got := l.definition(t.Context(), t, live.Name); got.Labels["theirs"] != "1" {
		t.Error("the label of somebody else is lost")
	}
}

func TestANewCRDIsDeletedOnlyIfItIsOursAndEmpty(t *testing.T) {
	t.Parallel()
	l := newLane(t)
	added := l.crd("Added", version("v1", properties{"a": text}))
	l.save(added)
	var guard func(context.Context, []string) error
	restore := func(actor *crd.Actor) crd.Restored {
		t.Helper()
		restored, err := actor.Restore(l.bounded(), l.changes, crd.RestoreOptions{Guard: guard})
		must(t, err)
		return restored
	}
	l.clean(l.expand())
	l.create(t, added, l.object(added, "v1", "a", nil))
	l.create(t, added, l.object(added, "v1", "b", nil))
	if r := restore(l.actor(&apiserver.Killer{})); len(r.Deleted) != 0 || len(r.Kept) != 1 || r.Kept[0].Objects != 2 {
		t.Errorf("with objects: %+v", r)
	}
	objects := l.client.Resource(resourceOf(added, "v1")).Namespace("default")
	must(t, objects.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	if r := restore(l.actor(&apiserver.Killer{})); len(r.Deleted) != 0 || len(r.Kept) != 1 {
		t.Errorf("without a guard: %+v", r)
	}
	guarded := func([]string) { l.create(t, added, l.object(added, "v1", "before-the-guard", nil)) }
	guard = func(ctx context.Context, names []string) error { guarded(names); return ctx.Err() }
	if r := restore(l.actor(&apiserver.Killer{})); len(r.Deleted) != 0 || len(r.Kept) != 1 || r.Kept[0].Objects != 1 {
		t.Errorf("with an object that was created after the first count: %+v", r)
	}
	must(t, objects.Delete(t.Context(), "before-the-guard", metav1.DeleteOptions{}))
	guarded = func(names []string) {
		if len(names) != 1 || names[0] != added.Name {
			t.Errorf("the guard is for %q", names)
		}
	}
	touched := func() { l.edit(added.Name, func(d *crd.Definition) { d.Labels = map[string]string{"theirs": "1"} }) }
	intruded := l.intruded(func() {
		l.create(t, added, l.object(added, "v1", "late", nil))
		touched()
	})
	if r := restore(intruded); len(r.Deleted) != 0 || len(r.Kept) != 1 {
		t.Errorf("changed during the deletion: %+v", r)
	}
	must(t, objects.Delete(t.Context(), "late", metav1.DeleteOptions{}))
	if r := restore(l.actor(&apiserver.Killer{})); len(r.Deleted) != 1 || len(r.Kept) != 0 {
		t.Errorf("without objects: %+v", r)
	}
	l.define(t, added)
	_ = refusedWith[*crd.ChangedError](l, l.expand())
	_ = refusedWith[*crd.ChangedError](l, l.restore())
}
