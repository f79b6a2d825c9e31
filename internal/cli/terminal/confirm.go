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
	"github.com/refit-dev/refit/internal/cli/keyring"
	"github.com/refit-dev/refit/internal/cli/text"
)

// MayAsk returns an error if there is no terminal for a prompt.
func (s *Streams) MayAsk() error {
	if file, ok := s.In.(*os.File); !ok || !term.IsTerminal(int(file.Fd())) {
		return exit.Usagef("there is no terminal for the confirmation prompt: use --yes")
	}
	return nil
}

var errNotConfirmed = errors.New("not confirmed: nothing was changed")

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
		return errNotConfirmed
	}
}

// CanAskSecret reports whether the user sees a prompt and can answer it.
func (s *Streams) CanAskSecret() bool {
	_, visible := s.columns(s.Err)
	return visible && s.MayAsk() == nil
}

// Keyring returns the keyring of the user, or nil if there is none.
func (s *Streams) Keyring() *keyring.Keyring { return keyring.OfUser(s.Getenv, s.Err) }

// AskSecret prompts for a secret on the terminal, without an echo.
func (s *Streams) AskSecret(ctx context.Context, question string) (string, error) {
	file, ok := s.In.(*os.File)
	if err := s.MayAsk(); err != nil || !ok {
		return "", err
	}
	if err := ctx.Err(); err != nil {
		return "", err // before the echo is off
	}
	fd := int(file.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", fmt.Errorf("cannot read from the terminal: %w", err)
	}
	fmt.Fprint(s.Err, text.Clean(question))
	type reply struct {
		secret []byte
		err    error
	}
	answer := make(chan reply, 1)
	go func() { // a read cannot be canceled
		secret, err := term.ReadPassword(fd)
		answer <- reply{secret, err}
	}()
	defer fmt.Fprintln(s.Err)
	select {
	case <-ctx.Done():
		_ = term.Restore(fd, before) // so that the shell echoes again
		return "", ctx.Err()
	case r := <-answer:
		if r.err != nil {
			return "", fmt.Errorf("cannot read from the terminal: %w", r.err)
		}
		return string(r.secret), nil
	}
}
