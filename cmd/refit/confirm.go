package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/refit-dev/refit/internal/cli/text"
)

// mayAsk refuses where nobody can be asked.
func (a *app) mayAsk() error {
	if file, ok := a.in.(*os.File); !ok || !term.IsTerminal(int(file.Fd())) {
		return usage("there is no terminal to ask on: say --yes if you mean it")
	}
	return nil
}

// confirm asks a person on a terminal. Anything but yes is no.
func (a *app) confirm(ctx context.Context, question string) error {
	if err := a.mayAsk(); err != nil {
		return err
	}
	fmt.Fprintf(a.err, "%s Type yes to go on: ", text.Clean(question))
	answer := make(chan string, 1)
	go func() { // a read cannot be ended; a person who interrupts does not wait for it
		line, _ := bufio.NewReader(a.in).ReadString('\n')
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(a.err)
		return ctx.Err()
	case said := <-answer:
		if said == "yes" || said == "y" {
			return nil
		}
		return errors.New("not confirmed: nothing was changed")
	}
}
