package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refit-dev/refit/internal/cli/terminal"
)

// Help is documentation: every command has a description, examples and explained flags, and every
// value of a flag has a name in capitals.
func TestHelp(t *testing.T) {
	root := newRootCommand(newLine(t).app)
	for _, cmd := range append(root.Commands(), root) {
		if cmd.Long == "" || cmd.Example == "" || cmd.Short == "" {
			t.Errorf("%s: Short, Long or Example is missing", cmd.Name())
		}
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			if flag.Usage == "" {
				t.Errorf("%s: --%s is not explained", cmd.Name(), flag.Name)
			}
			if value, _ := pflag.UnquoteUsage(flag); value != strings.ToUpper(value) {
				t.Errorf("%s: the value of --%s is named %s", cmd.Name(), flag.Name, value)
			}
		})
	}
}

func TestCheckListsAllChecks(t *testing.T) {
	l := newLine(t)
	if code := l.run(t, "check", "--list"); code != 0 || !strings.Contains(l.out.String(), "BudgetNeverAllows") {
		t.Errorf("exit code %d:\n%s", code, l.out)
	}
}

// The help groups the commands, and each example has a comment.
func TestHelpHasGroupsAndCommentedExamples(t *testing.T) {
	l := newLine(t)
	l.run(t, "--help")
	for _, want := range []string{"Inspect Commands:", "Upgrade Commands:\n", "Setup Commands:", "Other Commands:", "  # Upgrade a cluster\n  refit upgrade --to v1.36.3\n"} {
		if !strings.Contains(l.out.String(), want) {
			t.Errorf("the help lacks %q:\n%s", want, l.out)
		}
	}
	if strings.Contains(l.out.String(), "Additional Commands:") {
		t.Errorf("a command has no group:\n%s", l.out)
	}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for example := range strings.SplitSeq(cmd.Example, "\n\n") {
			if lines := strings.Split(example, "\n"); len(lines) != 2 || !strings.HasPrefix(lines[0], "  # ") {
				t.Errorf("%s: want a comment and a command: %q", cmd.CommandPath(), example)
			}
		}
		for _, sub := range cmd.Commands() {
			if sub.Name() != "help" {
				visit(sub)
			}
		}
	}
	visit(newRootCommand(l.app))
}

// The first argument of some verbs is not the operation.
func TestHelpNamesTheArgumentThatMayBeOmitted(t *testing.T) {
	for command, want := range map[string]string{"pause": "Without a name, the", "abandon": "Without OPERATION, the", "set pool": "Without OPERATION, the"} {
		l := newLine(t)
		if code := l.run(t, append(strings.Fields(command), "--help")...); code != 0 || !strings.Contains(l.out.String(), want) {
			t.Errorf("the help of %s lacks %q: exit code %d\n%s", command, want, code, l.out)
		}
	}
}

func TestVersionFlag(t *testing.T) {
	l := newLine(t)
	if code := l.run(t, "--version"); code != 0 || l.out.String() != "refit version "+versionOf().Version+"\n" {
		t.Errorf("exit code %d: %q %s", code, l.out, l.err)
	}
}

func TestHelpFitsATerminal(t *testing.T) {
	names := []string{""}
	var visit func(prefix string, cmd *cobra.Command)
	visit = func(prefix string, cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			names = append(names, prefix+sub.Name())
			visit(prefix+sub.Name()+" ", sub)
		}
	}
	visit("", newRootCommand(newLine(t).app))
	for _, command := range names {
		l := newLine(t)
		if code := l.run(t, append(strings.Fields(command), "--help")...); code != 0 {
			t.Errorf("%s: exit code %d: %s", command, code, l.err)
		}
		for line := range strings.SplitSeq(l.out.String(), "\n") {
			if len([]rune(line)) > 100 && !strings.HasPrefix(line, "  refit ") { // examples are meant to be copied
				t.Errorf("%s: this line of its help is too long: %q", command, line)
			}
		}
	}
}

// Every example in the help parses.
func TestExamplesParse(t *testing.T) {
	root := newRootCommand(newLine(t).app)
	for _, cmd := range root.Commands() {
		for example := range strings.SplitSeq(cmd.Example, "\n") {
			line := strings.TrimSpace(strings.NewReplacer("'", "", "=scaled down manually", "=x", " shop/cart", "").Replace(example))
			line, _, _ = strings.Cut(line, "|")
			line, _, _ = strings.Cut(line, ">")
			words := strings.Fields(line)
			if len(words) < 2 || words[0] != "refit" {
				continue
			}
			found, args, err := root.Find(words[1:])
			if err != nil || found == root {
				t.Errorf("%q: there is no such command: %v", example, err)
				continue
			}
			if err := found.ParseFlags(args); err != nil {
				t.Errorf("%q: %v", example, err)
			}
		}
	}
}

func TestNameAsPlugin(t *testing.T) {
	for program, want := range map[string]string{
		"/usr/local/bin/refit":         "refit",
		"/usr/local/bin/kubectl-refit": "kubectl refit",
		`kubectl-refit.exe`:            "kubectl refit",
		"./main.test":                  "refit",
		"/bin/kubectl_complete-refit":  "kubectl refit",
	} {
		if got := terminal.NameOf(program); got != want {
			t.Errorf("terminal.NameOf(%q) = %q, want %q", program, got, want)
		}
	}
	l := newLine(t)
	l.name = "kubectl refit"
	if code := l.run(t, "plan", "--help"); code != 0 {
		t.Fatalf("exit code %d: %s", code, l.err)
	}
	for _, want := range []string{"kubectl refit plan --to VERSION", "  kubectl refit plan --to v1.36.3\n"} {
		if !strings.Contains(l.out.String(), want) {
			t.Errorf("the help lacks %q:\n%s", want, l.out)
		}
	}
}

// kubectl completes "kubectl refit" through an executable of another name.
func TestCompletionAsPlugin(t *testing.T) {
	l := newLine(t)
	l.name = "kubectl refit"
	if code := run(t.Context(), l.app, terminal.ArgumentsOf("/bin/kubectl_complete-refit", []string{"pl"})); code != 0 || !strings.HasPrefix(l.out.String(), "plan\t") {
		t.Errorf("exit code %d: %q", code, l.out)
	}
	if got := terminal.ArgumentsOf("/bin/kubectl-refit", []string{"plan"}); len(got) != 1 {
		t.Errorf("arguments %q", got)
	}
}

func TestCompletion(t *testing.T) {
	for _, shell := range newCompletionCommand(newLine(t).app).ValidArgs {
		l := newLine(t)
		if code := l.run(t, "completion", shell); code != 0 || l.out.Len() == 0 {
			t.Errorf("%s: exit code %d, %d bytes: %s", shell, code, l.out.Len(), l.err)
		}
	}
	l := newLine(t)
	config := kubeconfigFor(t, "http://127.0.0.1:1")
	for _, c := range []struct{ flag, want string }{{"--scope", "ControlPlane"}, {"--output", "yaml"}, {"--context", "prod"}} {
		l.out.Reset()
		l.run(t, cobra.ShellCompRequestCmd, "plan", "--kubeconfig", config, c.flag, "")
		if !strings.Contains(l.out.String(), c.want) {
			t.Errorf("%s is completed by %q, want %s in it", c.flag, l.out, c.want)
		}
	}
}
