package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
)

// runner runs a binary and returns its standard output.
type runner func(ctx context.Context, args ...string) (string, error)

// command is a command with the parts of its help.
type command struct {
	path        string // such as "refit release create"
	short       string
	long        string
	usage       string
	examples    string
	flags       string
	subcommands []command
}

// read returns a command and all commands below it. Hidden commands are not part of it, because
// cobra does not complete them.
func read(ctx context.Context, run runner, path string) (command, error) {
	args := strings.Fields(path)[1:]
	help, err := run(ctx, append(args, "--help")...)
	if err != nil {
		return command{}, err
	}
	c := parse(path, help)
	if !strings.Contains(help, "\n  "+path+" [command]\n") {
		return c, nil
	}
	list, err := run(ctx, append(append([]string{"__complete"}, args...), "")...)
	if err != nil {
		return command{}, err
	}
	for line := range strings.Lines(list) {
		name, short, found := strings.Cut(strings.TrimSpace(line), "\t")
		if !found || name == "help" {
			continue
		}
		sub, err := read(ctx, run, path+" "+name)
		if err != nil {
			return command{}, err
		}
		sub.short = short
		c.subcommands = append(c.subcommands, sub)
	}
	if len(c.subcommands) == 0 {
		return command{}, fmt.Errorf("%s has commands, but completes none", path)
	}
	return c, nil
}

// section matches a heading of cobra's help.
var section = regexp.MustCompile(`(?m)^(Usage|Examples|Flags|Global Flags|[A-Z][a-z]+ Commands):\n`)

// parse splits the help of a command into its parts.
func parse(path, help string) command {
	c := command{path: path}
	at := section.FindAllStringSubmatchIndex(help, -1)
	for i, heading := range at {
		end := len(help)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		text, _, _ := strings.Cut(help[heading[1]:end], "\nUse \""+path)
		switch title := help[heading[2]:heading[3]]; title {
		case "Usage":
			c.usage = usageOf(path, text)
		case "Examples":
			c.examples = outdent(text)
		case "Flags", "Global Flags":
			c.flags = strings.TrimLeft(c.flags+"\n"+strings.Trim(text, "\n"), "\n")
		}
	}
	if len(at) > 0 {
		c.long = strings.TrimSpace(help[:at[0][0]])
	}
	return c
}

// usageOf returns the line that users type; every command has flags, and its commands are listed
// below it.
func usageOf(path, text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != path+" [command]" {
			return strings.TrimSuffix(line, " [flags]")
		}
	}
	return path
}

func outdent(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimPrefix(strings.TrimRight(line, "\n"), "  "))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
