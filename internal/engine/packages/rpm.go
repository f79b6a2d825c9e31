package packages

import (
	"context"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Rpm returns the driver for hosts that were installed from rpm packages, which are not supported
// yet: each method fails.
func Rpm() Driver { return rpm{} }

type rpm struct{}

func unsupported() error {
	return node.ManualIntervention("RpmNotSupported", nil,
		"Replace its packages with plain binaries of the same version, then run `refit retry`; or upgrade without it: run `refit abandon NODE`",
		"this host was installed from rpm packages, which Refit does not support yet")
}

func (rpm) Kind() refitv1alpha1.PackageKind               { return refitv1alpha1.PackageRpm }
func (rpm) Hold(context.Context, func(string)) error      { return unsupported() }
func (rpm) Release()                                      {}
func (rpm) Owner(context.Context, string) (string, error) { return "", unsupported() }
func (rpm) Installed(context.Context, ...string) (map[string]string, error) {
	return nil, unsupported()
}
func (rpm) Held(context.Context) ([]string, error)             { return nil, unsupported() }
func (rpm) Files(context.Context, ...string) ([]string, error) { return nil, unsupported() }
func (rpm) Prepare(context.Context, string, []string) error    { return unsupported() }
func (rpm) Check(context.Context, []string, Options) error     { return unsupported() }
func (rpm) Install(context.Context, []string, Options) error   { return unsupported() }
func (rpm) Configure(context.Context, []string) error          { return unsupported() }
func (rpm) Verify(context.Context, []string) (problems []string, err error) {
	return nil, unsupported()
}
