package report

import (
	"context"
	"errors"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/host"
)

// serviceUnits are the units of the binaries that an upgrade replaces.
var serviceUnits = []struct{ binary, unit string }{{"kubelet", kubeletUnit}, {"containerd", "containerd.service"}}

// services finds the services that start a script instead of the binary itself.
func services(ctx context.Context, s *Sources) (func(*refitv1alpha1.NodeReportStatus), error) {
	var found []refitv1alpha1.ServiceWrapper
	var problems []error
	for _, service := range serviceUnits {
		unit, err := s.unit(ctx, service.unit)
		if err == nil {
			_, err = unit.Binary(service.binary)
		}
		if wrapper, ok := errors.AsType[*host.WrapperError](err); ok {
			found = append(found, refitv1alpha1.ServiceWrapper{Binary: service.binary, Path: wrapper.Path})
			continue
		}
		problems = append(problems, err)
	}
	return func(to *refitv1alpha1.NodeReportStatus) { to.ServiceWrappers = found }, errors.Join(problems...)
}
