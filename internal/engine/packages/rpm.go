package packages

import (
	"context"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Rpm is the driver for hosts that were installed from rpm packages. It says honestly that it cannot do it yet.
func Rpm() Driver { return rpm{} }

type rpm struct{}

func notYet() error {
	return node.ManualIntervention("RpmNotSupported", nil,
		"leave this node out of the operation, or replace its packages by the plain binaries of the same version",
		"this host was installed from rpm packages, which Refit cannot upgrade yet")
}

func (rpm) Kind() refitv1alpha1.PackageKind                                 { return refitv1alpha1.PackageRpm }
func (rpm) Owner(context.Context, string) (string, error)                   { return "", notYet() }
func (rpm) Installed(context.Context, ...string) (map[string]string, error) { return nil, notYet() }
func (rpm) Held(context.Context) ([]string, error)                          { return nil, notYet() }
func (rpm) Prepare(context.Context, string, []string) error                 { return notYet() }
func (rpm) Check(context.Context, []string, Options) error                  { return notYet() }
func (rpm) Install(context.Context, []string, Options) error                { return notYet() }
func (rpm) Configure(context.Context, []string) error                       { return notYet() }
func (rpm) Verify(context.Context, []string) (problems []string, err error) { return nil, notYet() }
