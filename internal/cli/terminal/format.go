package terminal

import (
	"strings"

	"github.com/refit-dev/refit/internal/cli/arguments"
	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/cli/exit"
)

// The formats of a result.
const (
	FormatText     = "text"
	FormatJSON     = "json"
	FormatYAML     = "yaml"
	FormatManifest = "manifest"
)

// Format is the format in which a result is printed.
type Format struct {
	Output  string
	Wide    bool
	Allowed []string
	// HasWide is set if the command has the flag --wide.
	HasWide bool
}

// Check validates the format, in any case, and stores it as it is spelled.
func (f *Format) Check() error {
	value, err := arguments.OneOf("--output", f.Output, f.Allowed)
	if err == nil {
		f.Output = value
		return nil
	}
	if f.HasWide && strings.EqualFold(f.Output, "wide") {
		return exit.Usagef("%w; use --wide to list everything", err)
	}
	return exit.UsageError{Err: err}
}

// PrintAs prints a result as JSON, YAML or text.
func (s *Streams) PrintAs(f *Format, result any, text func() string) error {
	switch f.Output {
	case FormatText:
		return s.Print([]byte(text()))
	case FormatYAML:
		return s.PrintEncoded(document.YAML(result))
	}
	return s.PrintEncoded(document.JSON(result))
}
