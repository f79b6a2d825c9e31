package builder

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/refit-dev/refit/test/testbed/versions"
)

// busyboxFor are the names under which smoke workloads call busybox. Debian's busybox is static and
// has its own resolver, so names resolve with /etc/resolv.conf. Its wget crashes with -T; use
// timeout instead.
var busyboxFor = []string{
	"sh", "cat", "cp", "date", "echo", "env", "grep", "head", "hostname", "httpd", "id", "ip", "kill", "ls", "mkdir",
	"mv", "nc", "nslookup", "ping", "printf", "ps", "rm", "sed", "sleep", "sync", "tail", "test", "time", "timeout",
	"touch", "tr", "true", "wc", "wget",
}

// busyboxImage is built from the busybox of the Debian entry, and fails if the version does not
// match the name of the image.
func busyboxImage(debian string) (image, error) {
	packages, err := os.ReadFile(filepath.Join(debian, "packages.txt"))
	if err != nil {
		return image{}, fmt.Errorf("reading the busybox version: %w", err)
	}
	if version := installedVersion(string(packages), "busybox-static"); !strings.HasPrefix(version, versions.Busybox+".") {
		return image{}, fmt.Errorf("the node root has busybox %q, but the image is named %s", version, versions.BusyboxImage)
	}
	img := image{
		name: versions.BusyboxImage, command: []string{"sh"},
		files: []layerFile{{path: "/bin/busybox", mode: 0o755, source: filepath.Join(debian, "root/bin/busybox")}},
	}
	for _, name := range busyboxFor {
		img.files = append(img.files, layerFile{path: "/bin/" + name, link: "busybox"})
	}
	return img, nil
}

// installedVersion returns the version of a package in the output of `dpkg-query --show`, without
// its epoch.
func installedVersion(list, name string) string {
	for line := range strings.Lines(list) {
		if found, version, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && found == name {
			if _, plain, ok := strings.Cut(version, ":"); ok {
				return plain
			}
			return version
		}
	}
	return ""
}
