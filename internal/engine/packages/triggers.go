package packages

import (
	"context"
	"slices"
	"strings"
)

// sandboxSafe are the triggers of other packages that Refit processes when its own packages
// activate them, so that the host ends as after an installation by hand. Every other trigger stays
// pending until the operator runs `dpkg --configure -a`: the agent's sandbox hides kernel modules
// (ProtectKernelModules), so update-initramfs would write an initrd that does not boot.
var sandboxSafe = []string{"ldconfig", "/usr/share/man", "/usr/share/info", "/usr/share/doc-base"}

// processTriggers processes pending triggers: those of the named packages, and the safe ones of
// others. Its own result does not count: a failed script leaves its package half-configured, which
// the caller sees of the named packages, and the next Check of all others.
func (d deb) processTriggers(ctx context.Context, names []string) error {
	all, err := d.list(ctx)
	if err != nil {
		return err
	}
	var pending []string
	for _, s := range all {
		if len(s.triggers) > 0 && (slices.Contains(names, s.name) || safeInSandbox(s.triggers)) {
			pending = append(pending, s.binary)
		}
	}
	if len(pending) > 0 {
		_ = d.dpkg(ctx, "", slices.Concat(safeOptions, []string{"--triggers-only"}, pending)...)
	}
	return ctx.Err()
}

func safeInSandbox(triggers []string) bool {
	return !slices.ContainsFunc(triggers, func(trigger string) bool {
		return !slices.ContainsFunc(sandboxSafe, func(safe string) bool {
			return trigger == safe || strings.HasPrefix(trigger, safe+"/")
		})
	})
}
