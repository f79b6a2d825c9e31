package machine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// kernelModules are the modules of nodes that the kernel does not load on demand, with a file that
// each of them creates. Nodes cannot load modules. The modules stay loaded.
var kernelModules = map[string]string{
	"br_netfilter": "/proc/sys/net/bridge/bridge-nf-call-iptables",
}

// LoadKernelModules loads modules that are missing and not built into the kernel. Nodes must boot
// after that: their boot script changes settings of these modules.
func LoadKernelModules(ctx context.Context) error {
	return loadMissing(kernelModules, func(name string) error { return Run(ctx, "modprobe", name) })
}

func loadMissing(modules map[string]string, load func(name string) error) error {
	var errs []error
	for name, file := range modules {
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		err := load(name)
		if err == nil {
			_, err = os.Stat(file)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("cannot load kernel module %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}
