package main

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// help has what the binary of the tests prints.
var help = map[string]string{
	"--help": "A tool.\n\nUsage:\n  tool [flags]\n  tool [command]\n\nOther Commands:\n  help  Help\n  list  List things\n\n" +
		"Flags:\n  -h, --help   help for tool\n\nUse \"tool [command] --help\" for more information about a command.\n",
	"list --help": "List <things>.\n\nUsage:\n  tool list NAME | --all [flags]\n\nExamples:\n  # List all\n  tool list --all\n\n  # List one\n  tool list a\n\n" +
		"Flags:\n      --all    all things\n\nGlobal Flags:\n      --file FILE   a file\n",
	"__complete ": "help\tHelp\nlist\tList things\n:4\n",
}

func printed(_ context.Context, args ...string) (string, error) {
	text, ok := help[strings.Join(args, " ")]
	if !ok {
		return "", errors.New("unexpected arguments")
	}
	return text, nil
}

func TestTheReferenceHasEveryCommandWithItsHelp(t *testing.T) {
	root, err := read(t.Context(), printed, "tool")
	if err != nil {
		t.Fatal(err)
	}
	want := preface + "\n## tool\n\nA tool.\n\n| command | use |\n|---|---|\n| [tool list](#tool-list) | List things |\n\n" +
		"```text\n  -h, --help   help for tool\n```\n\n" +
		"### tool list\n\nList \\<things\\>.\n\n```text\ntool list NAME | --all\n```\n\n" +
		"```bash\n# List all\ntool list --all\n\n# List one\ntool list a\n```\n\n" +
		"```text\n      --all    all things\n      --file FILE   a file\n```\n"
	if got := render([]command{root}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Completion that ends without a command would remove the commands from the reference.
func TestACommandWhoseCommandsAreNotListedIsAnError(t *testing.T) {
	run := func(ctx context.Context, args ...string) (string, error) {
		if args[0] == "__complete" {
			return ":4\n", nil
		}
		return printed(ctx, args...)
	}
	if c, err := read(t.Context(), run, "tool"); err == nil {
		t.Errorf("got %+v", c)
	}
}
