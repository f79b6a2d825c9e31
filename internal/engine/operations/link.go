package operations

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// An API server that is upgraded is back within seconds, so requests are short and retried soon.
const (
	requestTimeout = 5 * time.Second
	minBackoff     = 250 * time.Millisecond
	maxBackoff     = 2 * time.Second
)

// link keeps copies of objects up to date while their API server comes and goes.
type link struct {
	*Cluster
	outages *outages
}

func newLink(ctx context.Context, c *Cluster) *link {
	return &link{Cluster: c, outages: newOutages(ctx)}
}

// copied are the objects of one kind that a link keeps up to date, and where it reports them.
type copied struct {
	list    func() client.ObjectList
	options []client.ListOption
	perPage int64 // 0: all objects on one page

	// A list begins, has items, and ends at the time at which the API server answered it. One that
	// fails does not end.
	begin func()
	item  func(object client.Object)
	end   func(read time.Time)
	// change is an event of the watch that follows.
	change func(object client.Object, deleted bool)
	// failed is a list that failed at this time, and stale the end of a watch; nil if nobody needs
	// to know.
	failed func(at time.Time, err error)
	stale  func()
}

// keep lists and watches until the context ends.
func (l *link) keep(ctx context.Context, c *copied) {
	repeat(ctx, l.outages, func(ctx context.Context) error {
		version, err := l.readAll(ctx, c)
		if err != nil {
			if c.failed != nil && !errors.Is(context.Cause(ctx), errOutage) { // which the probe has reported
				c.failed(l.Now(), err)
			}
			return err
		}
		c.end(l.Now())
		if c.stale != nil {
			defer c.stale()
		}
		return l.watch(ctx, c, version)
	})
}

// readAll lists all objects and returns the resourceVersion to watch from, which is the same for
// all pages.
func (l *link) readAll(ctx context.Context, c *copied) (version string, err error) {
	c.begin()
	for token, more := "", true; more; more = token != "" {
		page := c.list()
		options := c.options
		if c.perPage > 0 {
			options = append([]client.ListOption{client.Limit(c.perPage), client.Continue(token)}, options...)
		}
		if err := l.readPage(ctx, page, options...); err != nil {
			return "", err
		}
		err := meta.EachListItem(page, func(item runtime.Object) error {
			if object, ok := item.(client.Object); ok {
				c.item(object)
			}
			return nil
		})
		if err != nil {
			return "", err
		}
		version, token = page.GetResourceVersion(), page.GetContinue()
	}
	return version, nil
}

func (l *link) readPage(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return l.Client.List(ctx, list, options...)
}

// errWatchEnded is a watch that the server ended with an error, such as an expired resourceVersion.
var errWatchEnded = errors.New("the watch ended")

// watch watches from a resourceVersion until the stream ends.
func (l *link) watch(ctx context.Context, c *copied, version string) error {
	from := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: version}}
	stream, err := l.Client.Watch(ctx, c.list(), append([]client.ListOption{from}, c.options...)...)
	if err != nil {
		return err
	}
	defer stream.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case event, more := <-stream.ResultChan():
			if !more {
				return nil
			}
			object, ok := event.Object.(client.Object)
			if !ok || event.Type == watch.Error {
				return errWatchEnded
			}
			c.change(object, event.Type == watch.Deleted)
		}
	}
}

// repeat calls a function until the context ends, with a growing pause while it fails. An outage
// ends the function's own context.
func repeat(ctx context.Context, outages *outages, do func(context.Context) error) {
	for pause := minBackoff; ctx.Err() == nil; {
		if err := do(outages.next()); err == nil {
			pause = minBackoff
		} else {
			pause = min(2*pause, maxBackoff)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}
