package artifact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// maxDepth is the maximum nesting of a document, and maxFreeDepth that of one with free content.
const (
	maxDepth     = 16
	maxFreeDepth = 48
)

// strictJSON decodes one JSON document. It refuses unknown and duplicate fields, and data after the
// document. Below the fields that are free, names can be any text. Their numbers are decoded as
// json.Number.
func strictJSON(raw []byte, into any, free ...string) error {
	if err := noDuplicates(raw, free); err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if len(free) > 0 {
		decoder.UseNumber()
	}
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("cannot decode JSON: %w", err)
	}
	return nil
}

// noDuplicates refuses a document that two parsers could read differently: encoding/json ignores
// the case of names and uses the last of several fields, others use the first. It also refuses
// names with other characters than ASCII letters, since letters of other scripts may fold into
// them.
func noDuplicates(raw []byte, free []string) error {
	w := walker{Decoder: json.NewDecoder(bytes.NewReader(raw)), free: free, maxDepth: maxDepth}
	if len(free) > 0 {
		w.maxDepth = maxFreeDepth
	}
	if err := w.walk(0, false); err != nil {
		return err
	}
	if _, err := w.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is data after the document")
	}
	return nil
}

type walker struct {
	*json.Decoder

	free     []string // fields below which names can be any text
	maxDepth int
}

func (w *walker) walk(depth int, isFree bool) error {
	token, err := w.Token()
	if err != nil {
		return fmt.Errorf("invalid JSON: %w", err)
	}
	delim, nested := token.(json.Delim)
	if !nested {
		return nil
	}
	if depth >= w.maxDepth {
		return errors.New("the document is nested too deeply")
	}
	seen := map[string]bool{}
	for w.More() {
		below := isFree
		if delim == '{' {
			name, err := w.name(seen, isFree)
			if err != nil {
				return err
			}
			below = isFree || slices.Contains(w.free, name)
		}
		if err := w.walk(depth+1, below); err != nil {
			return err
		}
	}
	if _, err := w.Token(); err != nil { // the closing bracket
		return fmt.Errorf("invalid JSON: %w", err)
	}
	return nil
}

func (w *walker) name(seen map[string]bool, isFree bool) (string, error) {
	token, err := w.Token()
	if err != nil {
		return "", fmt.Errorf("invalid JSON: %w", err)
	}
	name, ok := token.(string)
	key := name
	if !isFree {
		if !ok || name == "" || strings.ContainsFunc(name, notLetter) || name[0] < 'a' {
			return "", fmt.Errorf("%s is not a field name", strconv.QuoteToASCII(name))
		}
		key = strings.ToLower(name)
	}
	if seen[key] {
		return "", fmt.Errorf("duplicate field %q", name)
	}
	seen[key] = true
	return name, nil
}

func notLetter(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }
