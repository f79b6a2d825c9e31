package terminal

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/cli/text"
)

// Streams are the streams of a process and its environment.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	Getenv   func(string) string
	Now      func() time.Time
}

// ReadFile reads a file, or standard input.
func (s *Streams) ReadFile(name string) ([]byte, error) {
	if name == document.Stdin {
		return io.ReadAll(s.In)
	}
	return os.ReadFile(name)
}

// Print writes a result to standard output.
func (s *Streams) Print(result []byte) error {
	if _, err := s.Out.Write(result); err != nil {
		return fmt.Errorf("cannot write the output: %w", err)
	}
	return nil
}

// PrintEncoded writes an encoded result to standard output, or returns the error of its encoder.
func (s *Streams) PrintEncoded(result []byte, err error) error {
	if err != nil {
		return err
	}
	return s.Print(result)
}

// Page returns the layout of text on standard output.
func (s *Streams) Page(wide bool) text.Page {
	columns, _ := s.columns(s.Out)
	return text.Page{Width: columns, Color: s.colors(s.Out), Wide: wide, Now: s.Now()}
}

// columns returns the width of the terminal of a writer, and whether it is one. A dumb terminal can
// neither move its cursor nor show colors, so it counts as a file.
func (s *Streams) columns(w io.Writer) (columns int, terminal bool) {
	file, ok := w.(*os.File)
	if !ok || s.Getenv("TERM") == "dumb" || !term.IsTerminal(int(file.Fd())) {
		return 0, false
	}
	columns, _ = sizeOf(file)
	return columns, true
}

// defaultRows is the height of a terminal that does not report its size, such as a serial console.
const defaultRows = 24

func sizeOf(terminal *os.File) (columns, rows int) {
	columns, rows, err := term.GetSize(int(terminal.Fd()))
	if err != nil || columns <= 0 || rows <= 0 {
		return text.DefaultWidth, defaultRows
	}
	return columns, rows
}

// colors reports whether to use colors: on a terminal, unless the user disables them
// (no-color.org).
func (s *Streams) colors(w io.Writer) bool {
	_, terminal := s.columns(w)
	return terminal && s.Getenv("NO_COLOR") == ""
}
