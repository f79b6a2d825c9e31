package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/text"
)

// MayAsk returns an error if there is no terminal for a prompt.
func (s *Streams) MayAsk() error {
	if file, ok := s.In.(*os.File); !ok || !term.IsTerminal(int(file.Fd())) {
		return exit.Usagef("there is no terminal to ask for confirmation: use --yes")
	}
	return nil
}

// Confirm prompts the user on the terminal. Anything but yes is no.
func (s *Streams) Confirm(ctx context.Context, question string) error {
	if err := s.MayAsk(); err != nil {
		return err
	}
	fmt.Fprintf(s.Err, "%s Type yes to continue: ", text.Clean(question))
	answer := make(chan string, 1)
	go func() { // a read cannot be canceled; a user who interrupts does not wait for it
		line, _ := bufio.NewReader(s.In).ReadString('\n')
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(s.Err)
		return ctx.Err()
	case reply := <-answer:
		if reply == "yes" || reply == "y" {
			return nil
		}
		return errors.New("not confirmed: nothing was changed")
	}
}
