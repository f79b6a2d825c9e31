//go:build apiserver

package crd

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/internal/engine/crd"
	"github.com/refit-dev/refit/test/apiserver"
)

func base64Of(content []byte) string { return base64.StdEncoding.EncodeToString(content) }

// fill creates objects of a CRD.
func (l *lane) fill(definition *crd.Definition, count int) {
	l.t.Helper()
	l.create(l.t, definition, l.object(definition, "v1", "object-0", map[string]any{"a": "0"}))
	resource := l.client.Resource(resourceOf(definition, "v1")).Namespace("default")
	var workers sync.WaitGroup
	var next atomic.Int64
	for range 8 {
		workers.Go(func() {
			for i := next.Add(1); i < int64(count); i = next.Add(1) {
				object := l.object(definition, "v1", fmt.Sprintf("object-%d", i), map[string]any{"a": fmt.Sprint(i)})
				if _, err := resource.Create(l.t.Context(), object, metav1.CreateOptions{}); err != nil {
					l.t.Error(err)
					return
				}
			}
		})
	}
	workers.Wait()
}

// storedIn counts the objects in etcd by the version in which they are stored.
func (l *lane) storedIn() map[string]int {
	l.t.Helper()
	counts := map[string]int{}
	for _, content := range l.stored() {
		for _, version := range []string{"v1", "v2"} {
			if strings.Contains(content, `"apiVersion":"`+l.group+"/"+version+`","kind"`) {
				counts[version]++
			}
		}
	}
	return counts
}

// shortPage is the size of a page unless everything is tested.
const shortPage = 20

// A pager makes the pages of all lists small.
type pager struct{ next http.RoundTripper }

func (p *pager) RoundTrip(request *http.Request) (*http.Response, error) {
	query := request.URL.Query()
	if limit, err := strconv.Atoi(query.Get("limit")); err == nil && limit > shortPage {
		query.Set("limit", strconv.Itoa(shortPage))
		request = request.Clone(request.Context())
		request.URL.RawQuery = query.Encode()
	}
	return p.next.RoundTrip(request)
}

// TestACommitRewritesAllObjects commits more objects than a page has, or 10,000.
func TestACommitRewritesAllObjects(t *testing.T) {
	t.Parallel()
	l := newLane(t)
	objects := 10_000
	if !full() {
		objects = 5 * shortPage / 2
		l.config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &pager{next} })
	}
	live := l.define(t, l.crd("Widget", version("v1", properties{"a": text, "b": text})))
	l.fill(live, objects)
	l.save(l.crd("Widget", version("v1", properties{"a": text, "b": text}), version("v2", properties{"a": text})))
	l.clean(l.expand())
	before := l.stored()

	begin := time.Now()
	actor := l.actor(&apiserver.Killer{})
	judged, err := actor.Judge(l.bounded(), l.changes[0].New)
	must(t, err)
	if judged.Objects != objects {
		t.Errorf("%d objects were judged", judged.Objects)
	}
	report(t, "crd_judged_objects", float64(objects), "objects")
	report(t, "crd_judge_time", time.Since(begin).Seconds(), "s")

	must(t, actor.Commit(l.bounded(), l.changes, crd.CommitOptions{}))
	if got := l.storedIn(); got["v1"] != objects {
		t.Errorf("a commit without a rewrite stores %v", got)
	}
	if got := l.definition(t.Context(), t, live.Name).Status.StoredVersions; !slices.Equal(got, []string{"v1", "v2"}) {
		t.Errorf("without a rewrite the stored versions are %v", got)
	}
	begin = time.Now()
	var last crd.Progress
	must(t, actor.Commit(l.bounded(), l.changes, crd.CommitOptions{Rewrite: true, Progress: func(p crd.Progress) { last = p }}))
	report(t, "crd_rewritten_objects", float64(objects), "objects")
	report(t, "crd_rewrite_time", time.Since(begin).Seconds(), "s")
	if last.Objects != int64(objects) || last.Remaining != 0 {
		t.Errorf("the last progress is %+v", last)
	}
	if got := l.storedIn(); got["v2"] != objects {
		t.Errorf("after a rewrite etcd has %v", got)
	}
	if got := l.definition(t.Context(), t, live.Name).Status.StoredVersions; !slices.Equal(got, []string{"v2"}) {
		t.Errorf("after a rewrite the stored versions are %v", got)
	}
	l.clean(l.unflip())
	if got := l.definition(t.Context(), t, live.Name).Status.StoredVersions; !slices.Equal(got, []string{"v1"}) {
		t.Errorf("after its reversal the stored versions are %v", got)
	}
	same(t, before, l.stored())
}

// A patcher runs a function before the first patch of a process.
type patcher struct {
	once *sync.Once
	run  func()
	next http.RoundTripper
}

func (p *patcher) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodPatch {
		p.once.Do(p.run)
	}
	return p.next.RoundTrip(request)
}

// duringRewrite returns an actor during whose rewrite something happens.
func (l *lane) duringRewrite(run func()) *crd.Actor {
	l.t.Helper()
	config := rest.CopyConfig(l.config)
	once := &sync.Once{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &patcher{once, run, next} })
	actor, err := crd.NewActor(config, "refit")
	must(l.t, err)
	return actor
}

func TestObjectsMayChangeDuringARewrite(t *testing.T) {
	t.Parallel()
	l := beyond(t)
	l.fill(l.changes[0].Old, 5)
	l.clean(l.expand())
	resource := l.client.Resource(resourceOf(l.changes[0].New, "v1")).Namespace("default")
	actor := l.duringRewrite(func() {
		must(t, resource.Delete(t.Context(), "object-1", metav1.DeleteOptions{}))
		changed, err := resource.Get(t.Context(), "object-2", metav1.GetOptions{})
		must(t, err)
		changed.Object["spec"] = map[string]any{"a": "changed"}
		_, err = resource.Update(t.Context(), changed, metav1.UpdateOptions{})
		must(t, err)
		l.create(t, l.changes[0].New, l.object(l.changes[0].New, "v1", "late", map[string]any{"a": "late"}))
	})
	must(t, actor.Commit(l.bounded(), l.changes, crd.CommitOptions{Rewrite: true}))
	if got := l.storedIn(); got["v2"] != 6 || got["v1"] != 0 {
		t.Errorf("etcd has %v", got)
	}
	changed, err := resource.Get(t.Context(), "object-2", metav1.GetOptions{})
	must(t, err)
	if changed.Object["spec"].(map[string]any)["a"] != "changed" {
		t.Error("the change of somebody else is lost")
	}
}

// TestACRDThatChangesDuringARewriteKeepsItsStoredVersions changes the storage version there and
// back while objects are rewritten: some may be stored in the other version then.
func TestACRDThatChangesDuringARewriteKeepsItsStoredVersions(t *testing.T) {
	t.Parallel()
	l := beyond(t)
	l.clean(l.expand())
	name := l.changes[0].New.Name
	storage := func(version string) {
		l.edit(name, func(d *crd.Definition) {
			for i := range d.Spec.Versions {
				d.Spec.Versions[i].Storage = d.Spec.Versions[i].Name == version
			}
		})
	}
	late := l.object(l.changes[0].New, "v1", "late", map[string]any{"a": "late"})
	actor := l.duringRewrite(func() {
		storage("v1")
		poll(t, func(ctx context.Context) error { // until the server stores in v1
			_ = l.client.Resource(resourceOf(l.changes[0].New, "v1")).Namespace("default").Delete(ctx, "late", metav1.DeleteOptions{})
			_, err := l.client.Resource(resourceOf(l.changes[0].New, "v1")).Namespace("default").Create(ctx, late, metav1.CreateOptions{})
			if err == nil && l.storedIn()["v1"] < 2 {
				err = fmt.Errorf("etcd has %v", l.storedIn())
			}
			return err
		})
		storage("v2")
	})
	must(t, actor.Commit(l.bounded(), l.changes, crd.CommitOptions{Rewrite: true}))
	stored := l.definition(t.Context(), t, name).Status.StoredVersions
	if got := l.storedIn(); got["v1"] != 0 && !slices.Contains(stored, "v1") {
		t.Errorf("etcd has %v, but the stored versions are %v", got, stored)
	}
	if !slices.Equal(stored, []string{"v2"}) {
		t.Errorf("the stored versions are %v", stored)
	}
}

// A refuser fails the patches of one object.
type refuser struct {
	name string
	next http.RoundTripper
}

func (r *refuser) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodPatch && strings.HasSuffix(request.URL.Path, "/"+r.name) {
		return nil, errors.New("refused")
	}
	return r.next.RoundTrip(request)
}

func TestStoredVersionsStayIfAnObjectCannotBeRewritten(t *testing.T) {
	t.Parallel()
	l := beyond(t)
	l.fill(l.changes[0].Old, 5)
	l.clean(l.expand())
	config := rest.CopyConfig(l.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &refuser{"object-3", next} })
	actor, err := crd.NewActor(config, "refit")
	must(t, err)
	err = actor.Commit(l.bounded(), l.changes, crd.CommitOptions{Rewrite: true})
	if err == nil || !strings.Contains(err.Error(), "1 failed: default/object-3: ") {
		t.Errorf("Commit() = %v", err)
	}
	if got := l.storedIn(); got["v1"] != 1 || got["v2"] != 5 {
		t.Errorf("etcd has %v", got)
	}
	if got := l.definition(t.Context(), t, l.changes[0].New.Name).Status.StoredVersions; !slices.Equal(got, []string{"v1", "v2"}) {
		t.Errorf("the stored versions are %v", got)
	}
}

// A recorder records what a process requests, in order.
type recorder struct {
	requests *[]string
	mu       *sync.Mutex
	next     http.RoundTripper
}

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	r.mu.Lock()
	*r.requests = append(*r.requests, request.Method+" "+request.URL.Path)
	r.mu.Unlock()
	return r.next.RoundTrip(request)
}

func TestObjectsAreRewrittenOnceTheServersUseTheStorageVersion(t *testing.T) {
	t.Parallel()
	l := beyond(t)
	l.clean(l.expand())
	var requests []string
	config := rest.CopyConfig(l.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &recorder{&requests, &sync.Mutex{}, next} })
	actor, err := crd.NewActor(config, "refit")
	must(t, err)
	must(t, actor.Unflip(l.bounded(), l.changes, crd.UnflipOptions{}))
	flip, rewrite, discoveries := -1, -1, 0
	for i, request := range requests {
		switch {
		case flip < 0 && strings.HasPrefix(request, "PUT "):
			flip = i
		case rewrite < 0 && strings.HasPrefix(request, "PATCH "):
			rewrite = i
		case flip >= 0 && rewrite < 0 && request == "GET /apis/"+l.group+"/v1":
			discoveries++
		}
	}
	if flip < 0 || rewrite < flip || discoveries < 2 {
		t.Errorf("%d discoveries between the change of the storage version and the rewrite: %q", discoveries, requests)
	}
}
