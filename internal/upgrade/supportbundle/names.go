package supportbundle

import (
	"path"
	"regexp"
	"strings"
	"time"
)

// Index is the path of the index.
const Index = "index.json"

// Units are the units whose journal a bundle has.
func Units() []string {
	return []string{"refit-agent.service", "kubelet.service", "containerd.service"}
}

// Root returns the name of the directory in an archive.
func Root(about string, now time.Time) string {
	name := "refit-support-bundle"
	if about != "" {
		name += "-" + safe(about)
	}
	return name + "-" + now.UTC().Format("20060102T150405Z")
}

// ObjectsPath is the path of a list of objects.
func ObjectsPath(resource, namespace string) string {
	if namespace == "" {
		return path.Join("objects", safe(resource)+".yaml")
	}
	return path.Join("objects", safe(namespace), safe(resource)+".yaml")
}

// EventsPath is the path of the Events of a namespace.
func EventsPath(namespace string) string { return path.Join("events", safe(namespace)+".yaml") }

// LogPath is the path of the log of a container.
func LogPath(namespace, pod, container string, previous bool) string {
	name := safe(container) + ".log"
	if previous {
		name = safe(container) + ".previous.log"
	}
	return path.Join("logs", safe(namespace), safe(pod), name)
}

// HostPath is the path of a part of a host.
func HostPath(node, part string) string { return path.Join("hosts", safe(node), part) }

// JournalPath is the path of the journal of a unit below that of its host.
func JournalPath(unit string) string {
	return path.Join("journal", safe(strings.TrimSuffix(unit, ".service"))+".log")
}

var (
	unsafe = regexp.MustCompile(`[^A-Za-z0-9._-]+`)
	// hostPart is what a host may call its parts: its answer is not trusted.
	hostPart = regexp.MustCompile(`^(?:journal|agent)/[a-z0-9][a-z0-9._-]{0,127}$|^status\.json$`)
)

func safe(name string) string {
	name = strings.TrimLeft(unsafe.ReplaceAllString(name, "_"), ".")
	if name == "" {
		return "_"
	}
	return name[:min(len(name), 200)]
}

// IsHostPart is true for a path that a part of a host may have.
func IsHostPart(name string) bool { return hostPart.MatchString(name) }
