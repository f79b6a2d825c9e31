package builder

import (
	"context"
	"time"
)

// Work is an entry that has to be built.
type Work struct {
	Name    string        // kubernetes v1.36.3
	Usually time.Duration // on a small machine without a cache
}

// Missing returns what Build has to build for these versions, and NodeImage for these node images,
// in order. It builds nothing and takes no lock.
func (b *Builder) Missing(ctx context.Context, kubernetes []string, nodes ...NodeImageSpec) ([]Work, error) {
	var wanted []recipe
	for _, version := range kubernetes {
		parts, err := b.parts(ctx, version)
		if err != nil {
			return nil, err
		}
		wanted = append(wanted, parts.all()...)
	}
	for _, spec := range nodes {
		node, seed, err := b.nodeRecipes(ctx, spec)
		if err != nil {
			return nil, err
		}
		wanted = append(wanted, node, seed)
	}
	var work []Work
	for _, r := range b.cache.missing(wanted...) {
		work = append(work, Work{Name: title(r), Usually: r.usually()})
	}
	return work, nil
}

// Total returns the usual duration of all builds.
func Total(work []Work) time.Duration {
	var total time.Duration
	for _, w := range work {
		total += w.Usually
	}
	return total
}
