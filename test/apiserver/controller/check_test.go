//go:build apiserver

package controller

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/controller"
)

func TestInstallationIsCheckedWithThePermissionsOfTheController(t *testing.T) {
	b := newBed(t)
	check := func(timeout time.Duration) (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		defer cancel()
		var said strings.Builder
		err := controller.Check(ctx, b.config, &said)
		return said.String(), err
	}
	if said, err := check(3 * time.Second); err == nil || !strings.HasPrefix(err.Error(), "no controllers lead: ") {
		t.Errorf("without controllers: %v\n%s", err, said)
	}
	stop := b.controllers()
	said, err := check(checkTimeout)
	if err != nil || strings.Count(said, "serves") != 7 || !strings.HasSuffix(said, " leads.\n") {
		t.Errorf("with controllers: %v\n%s", err, said)
	}
	stop()
	if said, err := check(3 * time.Second); err == nil {
		t.Errorf("controllers that have ended lead:\n%s", said)
	}
}
