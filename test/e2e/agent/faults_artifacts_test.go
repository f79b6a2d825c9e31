//go:build e2e

package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// oneSourceFlips corrupts one of two sources; the second one is intact.
func oneSourceFlips(f fault) {
	t, s := f.t, f.s
	s.again(t)
	s.b.Server.Breaks(flips)
	s.b.prefetch(t, s.r, s.n)
	s.b.clearFaults()
	s.b.apply(t, s.n)
	s.succeeds(t)
}

func oneSourceCuts(f fault) {
	t, s := f.t, f.s
	s.again(t)
	s.b.Server.Breaks(cuts)
	s.b.prefetch(t, s.r, s.n)
	s.b.clearFaults()
	s.b.apply(t, s.n)
	s.succeeds(t)
}

// everySourceFlips corrupts all sources: the agent must use none of their files, and resume once a
// source is fixed.
func everySourceFlips(f fault) {
	t, s := f.t, f.s
	s.again(t)
	s.b.Server.Breaks(flips)
	s.b.Second.Breaks(flips)
	s.b.order(t, s.n, permit(refitv1alpha1.PermitApply), to(s.r))
	s.tells(t, "ArtifactWrong")
	s.untouched(t)
	s.b.clearFaults()
	s.b.order(t, s.n, retry)
	s.succeeds(t)
}

// otherMachine puts a kubelet built for arm64 into a signed release, with a correct digest.
func otherMachine(f fault) {
	t, s := f.t, f.s
	s.again(t)
	r := s.releaseWith(t, "arm", "kubelet", func(program []byte) []byte {
		program[18], program[19] = 183, 0 // e_machine: AArch64
		return program
	})
	s.b.order(t, s.n, permit(refitv1alpha1.PermitApply), to(r))
	failure := s.failsWith(t, fetching, "WrongPlatform")
	t.Logf("%s: %s", failure.Reason, failure.Message)
	s.untouched(t)
}

// otherVersion puts a kubelet into the release that reports a different version.
func otherVersion(f fault) {
	t, s := f.t, f.s
	s.again(t)
	parts, err := s.b.Release(t.Context(), s.b.Spec().Kubernetes)
	must(t, err)
	r := s.releaseWith(t, "old", "kubelet", func([]byte) []byte {
		program, err := os.ReadFile(filepath.Join(parts.Bin, "kubelet"))
		must(t, err)
		return program
	})
	s.b.order(t, s.n, permit(refitv1alpha1.PermitApply), to(r))
	failure := s.failsWith(t, fetching, "WrongVersion")
	t.Logf("%s: %s", failure.Reason, failure.Message)
	s.untouched(t)
}

// releaseWith returns the scene's release with one binary changed, signed with a key that the hosts
// trust.
func (s *scene) releaseWith(t *testing.T, name, program string, change func([]byte) []byte) *bed.Release {
	t.Helper()
	p := s.r.Payload
	p.Files = slices.Clone(p.Files)
	i := slices.IndexFunc(p.Files, func(f refitv1alpha1.ReleaseFile) bool {
		return f.Name == program && f.Kind == refitv1alpha1.PackageBinary
	})
	if i < 0 {
		t.Fatalf("the release has no %s", program)
	}
	text, err := os.ReadFile(filepath.Join(s.b.Dir, p.Kubernetes, p.Files[i].Path))
	must(t, err)
	text = change(text)
	file := filepath.Join(s.b.Dir, program+"-"+name)
	must(t, os.WriteFile(file, text, 0o755))
	p.Files[i].Blob = refitv1alpha1.Blob{Digest: bed.DigestOf(text), Size: int64(len(text))}
	s.b.Server.Add(p.Files[i].Digest, file)
	r := s.b.signed(t, "kubernetes-"+p.Kubernetes+"-"+name, p, s.b.Key)
	r.Parts = s.r.Parts
	return r
}

// imageGone disables all sources once everything is fetched, and removes images from the container
// runtime.
func imageGone(f fault) {
	t, s := f.t, f.s
	s.fetched(t)
	s.b.Server.Breaks(away)
	s.b.Second.Breaks(away)
	for _, image := range []string{"kube-apiserver", "kube-scheduler"} {
		_, err := s.n.Exec(t.Context(), "ctr", "--namespace=k8s.io", "images", "rm", "--sync", "registry.k8s.io/"+image+":"+s.r.Parts.Kubernetes)
		must(t, err)
	}
	s.b.apply(t, s.n)
	s.succeeds(t)
}

// imagesCollected makes the kubelet garbage-collect images: an unpinned image must be removed,
// those of the release must stay.
func imagesCollected(f fault) {
	t, s := f.t, f.s
	s.fetched(t)
	other, err := s.b.Release(t.Context(), newest)
	must(t, err)
	decoy := "registry.k8s.io/coredns/coredns:" + other.CoreDNS
	i := slices.IndexFunc(other.Images, func(file string) bool { return strings.Contains(filepath.Base(file), "coredns") })
	must(t, s.n.LoadImage(t.Context(), other.Images[i]))
	_, err = s.n.Exec(t.Context(), "sed", "-i", "-e", "/^imageGC/d", "-e", "/^imageMinimumGCAge/d",
		"-e", "$ a imageGCHighThresholdPercent: 2\\nimageGCLowThresholdPercent: 1\\nimageMinimumGCAge: 1s", "/var/lib/kubelet/config.yaml")
	must(t, err)
	_, err = s.n.Exec(t.Context(), "systemctl", "restart", "kubelet")
	must(t, err)
	must(t, until(t.Context(), "the kubelet to collect an image", 7*60e9, func(ctx context.Context) error {
		names, err := imagesOf(ctx, s.n)
		if err == nil && slices.Contains(names, decoy) {
			err = errors.New(decoy + " is still there")
		}
		return err
	}))
	names, err := imagesOf(t.Context(), s.n)
	must(t, err)
	for _, image := range s.r.Payload.Images {
		if !slices.Contains(names, image.Name) {
			t.Errorf("%s was collected", image.Name)
		}
	}
	s.b.Server.Breaks(away)
	s.b.Second.Breaks(away)
	s.b.apply(t, s.n)
	s.succeeds(t)
}

// imagesOf returns the names of the images in a node's container runtime.
func imagesOf(ctx context.Context, n *cluster.Node) ([]string, error) {
	out, err := n.Exec(ctx, "ctr", "--namespace=k8s.io", "images", "ls", "--quiet")
	if err != nil {
		return nil, fmt.Errorf("listing the images of %s: %w", n.Name(), err)
	}
	return slices.Collect(lines(string(out))), nil
}
