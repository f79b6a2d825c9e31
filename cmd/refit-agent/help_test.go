package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestHelpOfEachCommand(t *testing.T) {
	root := command(&bytes.Buffer{}, &bytes.Buffer{})
	if root.Long == "" || root.Short == "" {
		t.Error("the root command has no description")
	}
	for _, c := range root.Commands() {
		if c.Short == "" {
			t.Errorf("%s has no description", c.Name())
		}
		c.Flags().VisitAll(func(flag *pflag.Flag) {
			if flag.Usage == "" {
				t.Errorf("%s: --%s has no description", c.Name(), flag.Name)
			}
		})
		out, err := run(t, c.Name(), "--help")
		if err != nil || !strings.Contains(out, "refit-agent "+c.Name()) {
			t.Errorf("%s: %v\n%s", c.Name(), err, out)
		}
	}
}

func TestExamplesParse(t *testing.T) {
	root := command(&bytes.Buffer{}, &bytes.Buffer{})
	for _, c := range root.Commands() {
		for example := range strings.Lines(c.Example) {
			words := strings.Fields(example)
			if len(words) == 0 || words[0] == "#" {
				continue
			}
			found, args, err := root.Find(words[1:])
			if err != nil || found != c {
				t.Errorf("%q is not a valid example of %s: %v", example, c.Name(), err)
			} else if err := c.ParseFlags(args); err != nil {
				t.Errorf("%q: %v", example, err)
			}
		}
	}
}

func TestHelpListsTheCommands(t *testing.T) {
	out, err := run(t, "--help")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"run", "install", "uninstall", "status", "steps", "undo", "forget", "place", "remove", "pause", "try"} {
		if !strings.Contains(out, "\n  "+name+" ") {
			t.Errorf("%s is not listed:\n%s", name, out)
		}
	}
}

func TestVersion(t *testing.T) {
	if out, err := run(t, "--version"); err != nil || out != "refit-agent version "+version+"\n" {
		t.Errorf("%v %q", err, out)
	}
}

// An invalid command line is reported in one line, and changes nothing.
func TestInvalidInput(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"no role":            {[]string{"steps", "--to", "v1.36.3"}, "--role must be first-control-plane, control-plane or worker"},
		"unknown role":       {[]string{"steps", "--role", "master", "--to", "v1.36.3"}, `not "master"`},
		"role in the API":    {[]string{"steps", "--role", "ControlPlane", "--to", "v1.36.3"}, `not "ControlPlane"`},
		"no version":         {[]string{"steps", "--role", "worker"}, "this agent supports Kubernetes 1.3"},
		"no such version":    {[]string{"steps", "--role", "worker", "--to", "latest"}, `--to "latest"`},
		"an old version":     {[]string{"steps", "--role", "worker", "--to", "v1.20.0"}, "this agent supports"},
		"unknown flag":       {[]string{"steps", "--force"}, "unknown flag: --force"},
		"argument to steps":  {[]string{"steps", "worker"}, "unknown command"},
		"argument to status": {[]string{"status", "worker-1"}, "unknown command"},
		"argument to undo":   {[]string{"undo", "swap-etcd"}, "unknown command"},
		"argument to forget": {[]string{"forget", "kubelet"}, "unknown command"},
		// As root, install would otherwise install.
		"argument to install": {[]string{"install", "now"}, "unknown command"},
		"install by force":    {[]string{"install", "--force"}, "unknown flag: --force"},
		// So would these.
		"argument to uninstall":       {[]string{"uninstall", "now"}, "unknown command"},
		"uninstall by force":          {[]string{"uninstall", "--force"}, "unknown flag: --force"},
		"place without --host":        {[]string{"place", "--settings", os.DevNull}, "--host is required"},
		"place with a relative path":  {[]string{"place", "--settings", os.DevNull, "--host", "host"}, "not an absolute path"},
		"place on a non-host":         {[]string{"place", "--settings", os.DevNull, "--host", t.TempDir()}, "runs systemd"},
		"place without settings file": {[]string{"place", "--settings", "/does/not/exist", "--host", "/"}, "no such file"},
		"place, argument":             {[]string{"place", "/host"}, "unknown command"},
		"remove without --host":       {[]string{"remove"}, "--host is required"},
		"remove from a non-host":      {[]string{"remove", "--host", t.TempDir()}, "runs systemd"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := run(t, c.args...)
			if err == nil || !strings.Contains(describe(err), c.says) || out != "" {
				t.Errorf("%v, want %q in it; stdout %q", err, c.says, out)
			}
			if err != nil && strings.Contains(describe(err), "\n") {
				t.Errorf("more than one line: %q", describe(err))
			}
		})
	}
}
