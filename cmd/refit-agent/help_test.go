package main

import (
	"bytes"
	"os"
	"slices"
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
		if slices.Contains([]string{"install", "uninstall", "status", "steps", "undo", "forget"}, c.Name()) && c.Example == "" {
			t.Errorf("%s, which an operator runs, has no example", c.Name())
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
			if len(words) == 0 || words[0] == "#" || words[0] == "systemctl" {
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
		"argument to steps":  {[]string{"steps", "worker"}, "unexpected argument"},
		"argument to status": {[]string{"status", "worker-1"}, "unexpected argument"},
		"no such format":     {[]string{"status", "-o", "table"}, "--output must be text, json or yaml"},
		"follow as YAML":     {[]string{"status", "--follow", "-o", "yaml"}, "--follow prints text or JSON"},
		"argument to undo":   {[]string{"undo", "swap-etcd"}, "unexpected argument"},
		"argument to forget": {[]string{"forget", "kubelet"}, "unexpected argument"},
		// As root, install would otherwise install.
		"argument to install": {[]string{"install", "now"}, "unexpected argument"},
		"install by force":    {[]string{"install", "--force"}, "unknown flag: --force"},
		// So would these.
		"argument to uninstall":       {[]string{"uninstall", "now"}, "unexpected argument"},
		"uninstall by force":          {[]string{"uninstall", "--force"}, "unknown flag: --force"},
		"place without --host":        {[]string{"place", "--settings", os.DevNull}, "--host is required"},
		"place with a relative path":  {[]string{"place", "--settings", os.DevNull, "--host", "host"}, "not an absolute path"},
		"place on a non-host":         {[]string{"place", "--settings", os.DevNull, "--host", t.TempDir()}, "runs systemd"},
		"place without settings file": {[]string{"place", "--settings", "/does/not/exist", "--host", "/"}, "no such file"},
		"place, argument":             {[]string{"place", "/host"}, "unexpected argument"},
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

func TestExitCodes(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"success":         {[]string{"--version"}, 0, ""},
		"misspelled":      {[]string{"stauts"}, 2, "refit-agent: unknown command \"stauts\"; did you mean status?\nRun `refit-agent --help` for usage.\n"},
		"unknown command": {[]string{"reinstall-all"}, 2, "unknown command \"reinstall-all\"\n"},
		"unknown flag":    {[]string{"status", "--force"}, 2, "Run `refit-agent status --help` for usage.\n"},
		"unknown role":    {[]string{"steps", "--role", "master"}, 2, "Run `refit-agent steps --help` for usage.\n"},
		"no host":         {[]string{"remove"}, 2, "--host is required"},
		"nothing to do":   {[]string{"remove", "--host", t.TempDir()}, 1, "runs systemd"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			root := command(&out, &errs)
			root.SetArgs(c.args)
			ran, err := root.ExecuteContextC(t.Context())
			if code := report(&errs, ran, err); code != c.code || !strings.Contains(errs.String(), c.says) {
				t.Errorf("exit code %d, want %d and %q:\n%s", code, c.code, c.says, &errs)
			}
		})
	}
}
