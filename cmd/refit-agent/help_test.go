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
		t.Error("the program does not say what it is")
	}
	for _, c := range root.Commands() {
		if c.Short == "" {
			t.Errorf("%s does not say what it does", c.Name())
		}
		c.Flags().VisitAll(func(flag *pflag.Flag) {
			if flag.Usage == "" {
				t.Errorf("%s: --%s is not explained", c.Name(), flag.Name)
			}
		})
		out, err := run(t, c.Name(), "--help")
		if err != nil || !strings.Contains(out, "refit-agent "+c.Name()) {
			t.Errorf("%s: %v\n%s", c.Name(), err, out)
		}
	}
}

// Examples are tried before they are printed.
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
				t.Errorf("%q is no example of %s: %v", example, c.Name(), err)
			} else if err := c.ParseFlags(args); err != nil {
				t.Errorf("%q: %v", example, err)
			}
		}
	}
}

func TestHelpNamesTheCommands(t *testing.T) {
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

func TestVersionIsTold(t *testing.T) {
	if out, err := run(t, "--version"); err != nil || out != "refit-agent version "+version+"\n" {
		t.Errorf("%v %q", err, out)
	}
}

// What is wrong on a command line is said in one line, and nothing is done.
func TestWrongInput(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"no role":            {[]string{"steps", "--to", "v1.36.3"}, "--role is one of first-control-plane, control-plane, worker"},
		"unknown role":       {[]string{"steps", "--role", "master", "--to", "v1.36.3"}, `not "master"`},
		"role in the API":    {[]string{"steps", "--role", "ControlPlane", "--to", "v1.36.3"}, `not "ControlPlane"`},
		"no version":         {[]string{"steps", "--role", "worker"}, "this agent knows Kubernetes 1.3"},
		"no such version":    {[]string{"steps", "--role", "worker", "--to", "latest"}, `--to "latest"`},
		"an old version":     {[]string{"steps", "--role", "worker", "--to", "v1.20.0"}, "this agent knows"},
		"unknown flag":       {[]string{"steps", "--force"}, "unknown flag: --force"},
		"argument to steps":  {[]string{"steps", "worker"}, "unknown command"},
		"argument to status": {[]string{"status", "worker-1"}, "unknown command"},
		"argument to undo":   {[]string{"undo", "swap-etcd"}, "unknown command"},
		"argument to forget": {[]string{"forget", "kubelet"}, "unknown command"},
		// As root, install would otherwise install.
		"argument to install": {[]string{"install", "now"}, "unknown command"},
		"install by force":    {[]string{"install", "--force"}, "unknown flag: --force"},
		// And so would these.
		"argument to uninstall":       {[]string{"uninstall", "now"}, "unknown command"},
		"uninstall by force":          {[]string{"uninstall", "--force"}, "unknown flag: --force"},
		"place nowhere":               {[]string{"place", "--settings", os.DevNull}, "--host: say where"},
		"place below here":            {[]string{"place", "--settings", os.DevNull, "--host", "host"}, "no absolute path"},
		"place into what is no host":  {[]string{"place", "--settings", os.DevNull, "--host", t.TempDir()}, "runs systemd"},
		"place without its settings":  {[]string{"place", "--settings", "/does/not/exist", "--host", "/"}, "no such file"},
		"place, argument":             {[]string{"place", "/host"}, "unknown command"},
		"remove from nowhere":         {[]string{"remove"}, "--host: say where"},
		"remove from what is no host": {[]string{"remove", "--host", t.TempDir()}, "runs systemd"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := run(t, c.args...)
			if err == nil || !strings.Contains(describe(err), c.says) || out != "" {
				t.Errorf("%v, want %q in it; stdout %q", err, c.says, out)
			}
			if err != nil && strings.Contains(describe(err), "\n") {
				t.Errorf("this is more than a line: %q", describe(err))
			}
		})
	}
}
