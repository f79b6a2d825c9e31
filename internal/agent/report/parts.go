package report

import (
	"context"
	"runtime"
	"sync"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/packages"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

type findParts func(context.Context) ([]refitv1alpha1.PartFacts, error)

// once returns a function that finds the parts for all readers of a report: each find runs the
// package manager several times.
func once(find findParts) findParts {
	if find == nil {
		return nil
	}
	var first sync.Once
	var parts []refitv1alpha1.PartFacts
	var err error
	return func(ctx context.Context) ([]refitv1alpha1.PartFacts, error) {
		first.Do(func() { parts, err = find(ctx) })
		return parts, err
	}
}

func packageFacts(ctx context.Context, s *Sources) (func(*refitv1alpha1.NodeReportStatus), error) {
	parts, err := s.parts(ctx)
	if err != nil {
		return nil, err
	}
	held, err := heldPackages(ctx, parts)
	if err != nil {
		return nil, err
	}
	return func(to *refitv1alpha1.NodeReportStatus) {
		to.Parts, to.HeldPackages = node.UnusualParts(parts), held
		for _, p := range parts {
			if p.Part == refitv1alpha1.PartKubelet {
				to.PackageKind = p.Kind
			}
		}
	}, nil
}

// heldPackages returns the packages on hold of the first package manager that a part is from: a
// host has one.
func heldPackages(ctx context.Context, parts []refitv1alpha1.PartFacts) ([]string, error) {
	for _, part := range parts {
		if driver := packages.Of(part.Kind); driver != nil {
			return driver.Held(ctx)
		}
	}
	return nil, nil
}

func (s *Sources) parts(ctx context.Context) ([]refitv1alpha1.PartFacts, error) {
	if s.Parts != nil {
		return s.Parts(ctx)
	}
	binary, err := s.kubeletBinary(ctx)
	if err != nil {
		return nil, err
	}
	kind, owner, err := packages.Detect(ctx, binary)
	return []refitv1alpha1.PartFacts{{Part: refitv1alpha1.PartKubelet, Kind: kind, Package: owner}}, err
}

// releaseFiles returns the files of the ClusterRelease for this host, each part by its own kind.
func (s *Sources) releaseFiles(ctx context.Context) ([]refitv1alpha1.ReleaseFile, error) {
	if s.Release.ImagesOnly {
		return nil, nil
	}
	parts, err := s.parts(ctx)
	if err != nil {
		return nil, err
	}
	var out []refitv1alpha1.ReleaseFile
	for _, part := range node.NeededParts(s.Release.Release.Payload, parts) {
		out = append(out, node.FilesOf(s.Release.Release.Payload, runtime.GOOS, runtime.GOARCH, part)...)
	}
	return out, nil
}
