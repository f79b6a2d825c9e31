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

// versionPattern matches the version in the output of a binary.
var versionPattern = regexp.MustCompile(`v?[0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+~-]*`)

// version runs a binary to get its version.
func (s *Sources) version(ctx context.Context, binary string, args ...string) (string, error) {
	return s.Cache.version(binary, func() (string, error) {
		out, err := host.Run(ctx, nil, append([]string{binary}, args...)...)
		if err != nil {
			return "", err
		}
		if found := versionPattern.FindString(out.Combined); found != "" {
			return found, nil
		}
		return "", fmt.Errorf("no version in the output of %s", binary)
	})
}

// binaries reads the versions of other binaries, if they are installed.
func binaries(ctx context.Context, s *Sources) (func(*refitv1alpha1.NodeReportStatus), error) {
	var problems []error
	query := func(binary string, args ...string) string {
		path, err := host.LookPath(binary)
		if err != nil {
			return ""
		}
		version, err := s.version(ctx, path, args...)
		if err != nil {
			problems = append(problems, err)
		}
		return version
	}
	kubeadm := query("kubeadm", "version", "-o", "short")
	runc := plain(query("runc", "--version"))
	cni := plain(query(cniDir + "/loopback")) // a plugin without a command prints its version
	return func(to *refitv1alpha1.NodeReportStatus) {
		to.Versions.Kubeadm, to.Versions.Runc, to.Versions.CNIPlugins = kubeadm, runc, cni
	}, errors.Join(problems...)
}

// plain removes the leading v, which only Kubernetes versions have in a report.
func plain(version string) string { return strings.TrimPrefix(version, "v") }
