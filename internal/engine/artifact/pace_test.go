package artifact

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// clockedPlace is a place that sends content at a speed, on a simulated clock.
type clockedPlace struct {
	content   []byte
	perSecond int
	clock     *time.Time
	busy      time.Duration
	missing   bool
}

func (p *clockedPlace) String() string { return "clocked" }

func (p *clockedPlace) places(refitv1alpha1.Blob) []place { return []place{p} }

func (p *clockedPlace) open(_ context.Context, _ refitv1alpha1.Blob, offset int64) (io.ReadCloser, int64, error) {
	if p.missing {
		return nil, 0, errNotFound
	}
	return io.NopCloser(&clockedBody{p, bytes.NewReader(p.content[offset:])}), offset, nil
}

type clockedBody struct {
	place *clockedPlace
	from  io.Reader
}

func (b *clockedBody) Read(into []byte) (int, error) {
	n, err := b.from.Read(into[:min(len(into), b.place.perSecond)])
	took := time.Duration(n) * time.Second / time.Duration(b.place.perSecond)
	*b.place.clock = b.place.clock.Add(took)
	b.place.busy += took
	return n, err
}

func TestSlowSourceLosesAgainstTheNext(t *testing.T) {
	content := bytes.Repeat([]byte("x"), 4<<20)
	b := refitv1alpha1.Blob{Digest: digestOf(content), Size: int64(len(content))}
	for name, tt := range map[string]struct {
		second func(*clockedPlace)
		most   time.Duration // on the slow source
	}{
		"the next source is fast":         {func(p *clockedPlace) { p.perSecond = 1 << 20 }, time.Minute},
		"the next source lacks the file":  {func(p *clockedPlace) { p.missing = true }, 2 * time.Hour},
		"the next source is slow as well": {func(*clockedPlace) {}, 2 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			clock := time.Unix(1e9, 0)
			store := newStore(t)
			store.now = func() time.Time { return clock }
			slow := &clockedPlace{content: content, perSecond: 1 << 10, clock: &clock} // 1 KiB/s
			next := &clockedPlace{content: content, perSecond: 1 << 10, clock: &clock}
			tt.second(next)
			if err := store.Fetch(t.Context(), b, []Source{slow, next}); err != nil {
				t.Fatal(err)
			}
			if !store.Has(b) || slow.busy > tt.most {
				t.Errorf("has %t after %s on the slow source", store.Has(b), slow.busy)
			}
		})
	}
}
