package sandbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/sandbox"
)

func valid() sandbox.Unit {
	return sandbox.Unit{
		Name: "refit-rehearsal-etcd", Kind: sandbox.Service, Command: []string{"/image/usr/local/bin/etcd", "--name=rehearsal"},
		Bounds: sandbox.Bounds{Time: time.Minute}, Output: "/var/lib/refit/out", Log: "/var/lib/refit/log",
		Sandbox: &sandbox.Sandbox{
			ReadOnly: []sandbox.Bind{{Host: "/run/refit/image", Path: "/image"}},
			Writable: []sandbox.Bind{{Host: "/var/lib/refit/scratch", Path: "/refit"}},
			Empty:    []string{"/cache"},
		},
	}
}

func TestValidate(t *testing.T) {
	if err := valid().Validate(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*sandbox.Unit)
		want   string
	}{
		"name that is a path":   {func(u *sandbox.Unit) { u.Name = "../kubelet" }, "is not a name"},
		"no name":               {func(u *sandbox.Unit) { u.Name = "" }, "is not a name"},
		"relative command":      {func(u *sandbox.Unit) { u.Command = []string{"etcd"} }, "its command"},
		"no command":            {func(u *sandbox.Unit) { u.Command = nil }, "its command"},
		"no kind":               {func(u *sandbox.Unit) { u.Kind = "" }, "kind"},
		"no time bound":         {func(u *sandbox.Unit) { u.Bounds.Time = 0 }, "time bound"},
		"time bound of a day":   {func(u *sandbox.Unit) { u.Bounds.Time = 24 * time.Hour }, "time bound"},
		"log with a dot":        {func(u *sandbox.Unit) { u.Log = "/var/../etc/passwd" }, "not a clean absolute path"},
		"relative environment":  {func(u *sandbox.Unit) { u.EnvironmentFile = "etcd.env" }, "not a clean absolute path"},
		"root of the host":      {func(u *sandbox.Unit) { u.Sandbox.Writable[0].Path = "/" }, "two clean absolute paths"},
		"bind with an option":   {func(u *sandbox.Unit) { u.Sandbox.ReadOnly[0].Host = "/a:/b" }, "two clean absolute paths"},
		"two binds at a path":   {func(u *sandbox.Unit) { u.Sandbox.Writable[0].Path = "/image" }, "two binds at /image"},
		"directory over a bind": {func(u *sandbox.Unit) { u.Sandbox.Empty[0] = "/image" }, "of its own"},
	} {
		t.Run(name, func(t *testing.T) {
			u := valid()
			c.change(&u)
			if err := u.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
