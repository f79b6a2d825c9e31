package host

import (
	"context"
	"io"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/supportbundle/archive"
)

// Bundle is a bundle of this host alone.
type Bundle struct {
	Host, Version string
	Now           func() time.Time
}

// Write collects the bundle and writes its archive. The index is complete also after an error.
func (b *Bundle) Write(ctx context.Context, r *Reader, o Options, to io.Writer) (*cliv1alpha1.SupportBundle, error) {
	started := b.Now()
	index := &cliv1alpha1.SupportBundle{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindSupportBundle, Host: b.Host, Version: b.Version, Time: started.UTC(),
		Since: o.Since, Until: o.Until,
	}
	const others = 2 // status and state beside the journals
	w := archive.New(to, index, b.Host, others*o.Limit)
	for _, p := range r.Read(ctx, o) {
		p.Node = b.Host
		if err := w.Add(p); err != nil {
			return index, err
		}
	}
	index.Seconds = int64(b.Now().Sub(started).Seconds())
	return index, w.Close()
}
