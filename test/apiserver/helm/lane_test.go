//go:build apiserver

package helm

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/test/apiserver"
)

// A lane upgrades one release and rolls it back, again and again.
type lane struct {
	t        *testing.T
	config   *rest.Config
	observer *observer
	release  helm.Release
	old, to  helm.Upgrade
	first    func(helm.Ref) bool // objects of the first wave
	saved    int                 // revision to roll back to; a journal remembers it
	sequence int64

	upgraded, rolledBack outcome // without a kill
}

// An outcome is the state after an upgrade or a rollback.
type outcome struct {
	writes  int
	objects string
	record  string
}

// A step is an action that a journal records before it starts.
type step struct {
	name string
	run  func(ctx context.Context, c *helm.Client) error
}

func newLane(t *testing.T, s *apiserver.Server, old, to *helm.Chart) *lane {
	t.Helper()
	config := s.RESTConfig()
	config.WarningHandler = rest.NoWarnings{}
	l := &lane{t: t, config: config}
	l.release = helm.Release{Namespace: namespace(t, config)}
	l.release.Name = "app-" + strings.TrimPrefix(l.release.Namespace, "helm-") // other lanes have the same chart
	l.old, l.to = rendered(t, s, old, l.release, false), rendered(t, s, to, l.release, true)
	l.observer = newObserver(t, config, l.old.Rendering, l.to.Rendering)
	l.first = func(ref helm.Ref) bool { return ref.Kind != "Deployment" }
	return l
}

func (l *lane) client(k *apiserver.Killer) *helm.Client {
	return helm.New(l.t.Context(), k.Config(l.config), l.release, slog.DiscardHandler)
}

func (l *lane) mark(step string) helm.Mark {
	return helm.Mark{Operation: "upgrade-1", Sequence: l.sequence, Step: step}
}

// upgrade returns the steps of an upgrade.
func (l *lane) upgrade() []step {
	l.sequence++
	adopt, first, last := l.mark("adopt"), l.mark("wave-1"), l.mark("wave-2")
	wave := func(mark helm.Mark, w helm.Wave) func(context.Context, *helm.Client) error {
		return func(ctx context.Context, c *helm.Client) error {
			u := l.to
			u.From, u.Deletions = l.saved, l.removed()
			return c.Wave(ctx, mark, u, w)
		}
	}
	return []step{
		{"adopt", func(ctx context.Context, c *helm.Client) (err error) {
			l.saved, err = c.Adopt(ctx, adopt)
			return err
		}},
		{"wave 1", wave(first, helm.Wave{Includes: l.first})},
		{"wave 2", wave(last, helm.Wave{Last: true})},
		{"sweep", func(ctx context.Context, c *helm.Client) error { return l.sweep(ctx, c, l.removed()) }},
	}
}

// rollback returns the steps of a rollback.
func (l *lane) rollback() []step {
	l.sequence++
	mark := l.mark("rollback")
	return []step{
		{"rollback", func(ctx context.Context, c *helm.Client) error {
			return c.Rollback(ctx, mark, l.saved, l.added(), hookTimeout)
		}},
		{"sweep", func(ctx context.Context, c *helm.Client) error { return l.sweep(ctx, c, l.added()) }},
	}
}

func (l *lane) sweep(ctx context.Context, c *helm.Client, approved []helm.Ref) error {
	swept, err := c.Sweep(ctx, approved)
	if err == nil && len(swept.Orphans) > 0 {
		return fmt.Errorf("%v are orphans", swept.Orphans)
	}
	return err
}

// removed are the objects and hooks that only the old version has, added those of the new one.
func (l *lane) removed() []helm.Ref { return only(l.old.Rendering, l.to.Rendering) }
func (l *lane) added() []helm.Ref   { return only(l.to.Rendering, l.old.Rendering) }

func only(a, b helm.Rendering) []helm.Ref {
	var refs []helm.Ref
	for _, object := range slices.Concat(a.Objects, a.Hooks) {
		if !slices.ContainsFunc(slices.Concat(b.Objects, b.Hooks), func(o helm.Object) bool { return o.Ref == object.Ref }) {
			refs = append(refs, object.Ref)
		}
	}
	return refs
}

// run runs steps in a process that is killed. The next process repeats the step that was active.
func (l *lane) run(steps []step, k *apiserver.Killer) (killedIn string) {
	l.t.Helper()
	ctx, cancel := context.WithCancel(bounded(l.t))
	defer cancel()
	k.Die = cancel
	c := l.client(k)
	for i := 0; i < len(steps); i++ {
		err := steps[i].run(ctx, c)
		switch {
		case k.Dead() && killedIn == "":
			killedIn = steps[i].name
			k = &apiserver.Killer{}
			ctx, c = bounded(l.t), l.client(k)
			i--
		case err != nil:
			l.t.Fatalf("%s, killed in %q: %v", steps[i].name, killedIn, err)
		}
	}
	return killedIn
}

// clean runs steps without a kill.
func (l *lane) clean(steps []step) outcome {
	l.t.Helper()
	k := &apiserver.Killer{}
	l.run(steps, k)
	found := l.outcome()
	found.writes = k.Writes()
	return found
}

func (l *lane) outcome() outcome {
	l.t.Helper()
	record, err := l.client(&apiserver.Killer{}).Newest(bounded(l.t))
	must(l.t, err)
	text := record.Status + " " + record.ChartVersion + "\n"
	for _, object := range slices.Concat(record.Objects, record.Hooks) {
		text += fmt.Sprintln(object.Ref, object.Source, object.Content.Object)
	}
	names := strings.NewReplacer(l.release.Namespace, "NAMESPACE", l.release.Name, "NAME")
	return outcome{objects: names.Replace(l.observer.state(l.t, l.release.Namespace)), record: names.Replace(text)}
}

// same fails if the state differs from that without a kill, or if the release is locked.
func (l *lane) same(want outcome, situation string) {
	l.t.Helper()
	got := l.outcome()
	tally.count(got, want)
	if got.objects != want.objects {
		l.t.Errorf("%s: the objects are\n%s\nwant\n%s", situation, got.objects, want.objects)
	}
	if got.record != want.record {
		l.t.Errorf("%s: the record is\n%s\nwant\n%s", situation, got.record, want.record)
	}
	client, err := kubernetes.NewForConfig(l.config)
	must(l.t, err)
	records, err := client.CoreV1().Secrets(l.release.Namespace).List(l.t.Context(), metav1.ListOptions{LabelSelector: "owner=helm"})
	must(l.t, err)
	statuses := map[string]int{}
	for _, record := range records.Items {
		statuses[record.Labels["status"]]++
	}
	if statuses["deployed"] != 1 || statuses["deployed"]+statuses["superseded"]+statuses["failed"] != len(records.Items) {
		tally.isStuck()
		l.t.Errorf("%s: the revisions are %v", situation, statuses)
	}
}
