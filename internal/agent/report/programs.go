package report

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/host"
)

// said finds a version in what a program says of itself.
var said = regexp.MustCompile(`v?[0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+~-]*`)

// version asks a program for its version.
func (s *Sources) version(ctx context.Context, program string, args ...string) (string, error) {
	return s.Cache.version(program, func() (string, error) {
		out, err := host.Run(ctx, nil, append([]string{program}, args...)...)
		if err != nil {
			return "", err
		}
		if found := said.FindString(out.Combined); found != "" {
			return found, nil
		}
		return "", fmt.Errorf("%s does not say its version", program)
	})
}

// programs asks what lies on disk and is not asked elsewhere. One that is not there is nothing to tell of.
func programs(ctx context.Context, s *Sources) (func(*refitv1alpha1.NodeReportStatus), error) {
	var problems []error
	ask := func(program string, args ...string) string {
		path, err := host.LookPath(program)
		if err != nil {
			return ""
		}
		version, err := s.version(ctx, path, args...)
		if err != nil {
			problems = append(problems, err)
		}
		return version
	}
	kubeadm := ask("kubeadm", "version", "-o", "short")
	runc := plain(ask("runc", "--version"))
	cni := plain(ask(cniDir + "/loopback")) // without a command, a plugin says who it is
	return func(to *refitv1alpha1.NodeReportStatus) {
		to.Versions.Kubeadm, to.Versions.Runc, to.Versions.CNIPlugins = kubeadm, runc, cni
	}, errors.Join(problems...)
}

// plain is a version without the letter before it: only Kubernetes' own have one here.
func plain(version string) string { return strings.TrimPrefix(version, "v") }
