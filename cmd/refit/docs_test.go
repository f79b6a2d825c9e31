package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestDocsNameCommandsAndFlagsThatExist compares the pages with the commands. The test is here
// because nothing else can import them. ROADMAP.md names planned commands.
func TestDocsNameCommandsAndFlagsThatExist(t *testing.T) {
	root, found := newRootCommand(newLine(t).app), 0
	root.InitDefaultHelpCmd()
	for _, pattern := range []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/*.md", "docs/*/*.md", "examples/*.md", "examples/*/*.md"} {
		pages, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range commandLines(string(text)) {
				found++
				if err := exists(root, line); err != nil {
					t.Errorf("%s: `%s`: %v", page, line, err)
				}
			}
		}
	}
	if found < 100 {
		t.Errorf("found %d commands: this test looks at the wrong place", found)
	}
}

func TestCommandsInDocsAreFound(t *testing.T) {
	page := "Run `refit check --list` or `refit-agent status`, then:\n\n```\n$ refit plan --to v1.36.3 | less   # comment\n" +
		"refit upgrade --to v1.36.3 \\\n  --waive 'A/Node x=y # z'\nrefit status\n```\n\nThe `kubectl refit watch` command, and refit alone.\n" +
		"\n| `refit history \\| less` |\n"
	want := []string{"refit plan --to v1.36.3", "refit upgrade --to v1.36.3    --waive 'A/Node x=y # z'", "refit status", "refit check --list", "refit watch", "refit history"}
	if got := commandLines(page); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("commandLines() = %q, want %q", got, want)
	}
	root := newRootCommand(newLine(t).app)
	root.InitDefaultHelpCmd()
	for line, exist := range map[string]bool{
		"refit":                                     true,
		"refit check --to v1.36.3 -o json":          true,
		"refit abort [--yes] [NAME]":                true,
		"refit set pool NAME --max-unavailable=10%": true,
		"refit waive 'SwapOn/Node a --b=c'":         true,
		"refit release key create --out keys":       true,
		"refit help upgrade":                        true,
		"refit checks":                              false,
		"refit release key new":                     false,
		"refit plan --waiver a=b":                   false,
		"refit status -y":                           false,
		"refit set default --max-unavailable 1":     false,
	} {
		if err := exists(root, line); (err == nil) != exist {
			t.Errorf("exists(%q) = %v", line, err)
		}
	}
}

var (
	codeBlock  = regexp.MustCompile("(?s)```[^\n]*\n(.*?)```")
	codeSpan   = regexp.MustCompile("`([^`\n]+)`")
	continued  = regexp.MustCompile(`\\\n`)
	invocation = regexp.MustCompile(`^\s*(?:\$ )?(?:kubectl )?(refit(?: .*)?)$`)
	// word is a quoted or a bare word of a shell.
	word = regexp.MustCompile(`'[^']*'|"[^"]*"|[^\s'"]+`)
)

// commandLines returns the invocations of refit in code blocks and code spans of a page.
func commandLines(page string) []string {
	var candidates []string
	rest := codeBlock.ReplaceAllStringFunc(page, func(block string) string {
		text := continued.ReplaceAllString(codeBlock.FindStringSubmatch(block)[1], " ")
		candidates = append(candidates, strings.Split(text, "\n")...)
		return ""
	})
	for _, span := range codeSpan.FindAllStringSubmatch(rest, -1) {
		candidates = append(candidates, strings.ReplaceAll(span[1], `\|`, "|")) // a pipe in a table is escaped
	}
	var lines []string
	for _, candidate := range candidates {
		if match := invocation.FindStringSubmatch(candidate); match != nil {
			lines = append(lines, firstCommand(match[1]))
		}
	}
	return lines
}

// firstCommand cuts off a pipe, a redirection, another command and a comment.
func firstCommand(line string) string {
	for _, at := range word.FindAllStringIndex(line, -1) {
		switch line[at[0]:at[1]] {
		case "|", ">", "<", "&&", "||", ";", "#":
			return strings.TrimSpace(line[:at[0]])
		}
	}
	return strings.TrimSpace(line)
}

// exists returns an error if there is no such command, or if it has no such flag.
func exists(root *cobra.Command, line string) error {
	var words []string
	for _, w := range word.FindAllString(line, -1)[1:] {
		words = append(words, strings.Trim(w, "[]"))
	}
	cmd, rest, err := root.Find(words)
	if err != nil {
		return err
	}
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	for _, w := range rest {
		switch {
		case strings.HasPrefix(w, "--"):
			if name, _, _ := strings.Cut(w[2:], "="); cmd.Flag(name) == nil {
				return fmt.Errorf("%s has no flag --%s", cmd.CommandPath(), name)
			}
		case len(w) > 1 && w[0] == '-':
			if shorthand(cmd, w[1:2]) == nil {
				return fmt.Errorf("%s has no flag -%s", cmd.CommandPath(), w[1:2])
			}
		case cmd.HasSubCommands():
			return fmt.Errorf("%s has no command %s", cmd.CommandPath(), w)
		}
	}
	return nil
}

func shorthand(cmd *cobra.Command, letter string) *pflag.Flag {
	if flag := cmd.Flags().ShorthandLookup(letter); flag != nil {
		return flag
	}
	return cmd.InheritedFlags().ShorthandLookup(letter)
}
