package artifact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxDepth is the maximum nesting of a document.
const maxDepth = 16

// strictJSON decodes one JSON document. It refuses unknown and duplicate fields, and data after the
// document.
func strictJSON(raw []byte, into any) error {
	if err := noDuplicates(raw); err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("cannot decode JSON: %w", err)
	}
	return nil
}

// noDuplicates refuses a document that two parsers could read differently: encoding/json ignores
// the case of names and uses the last of several fields, others use the first. It also refuses
// names with other characters than ASCII letters, since letters of other scripts may fold into
// them.
func noDuplicates(raw []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if err := walk(decoder, 0); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is data after the document")
	}
	return nil
}

func walk(decoder *json.Decoder, depth int) error {
	token, err := decoder.Token()
	if err != nil {
		return fmt.Errorf("invalid JSON: %w", err)
	}
	delim, nested := token.(json.Delim)
	if !nested {
		return nil
	}
	if depth >= maxDepth {
		return errors.New("the document is nested too deeply")
	}
	seen := map[string]bool{}
	for decoder.More() {
		if delim == '{' {
			if err := walkName(decoder, seen); err != nil {
				return err
			}
		}
		if err := walk(decoder, depth+1); err != nil {
			return err
		}
	}
	if _, err := decoder.Token(); err != nil { // the closing bracket
		return fmt.Errorf("invalid JSON: %w", err)
	}
	return nil
}

func walkName(decoder *json.Decoder, seen map[string]bool) error {
	token, err := decoder.Token()
	if err != nil {
		return fmt.Errorf("invalid JSON: %w", err)
	}
	name, ok := token.(string)
	if !ok || name == "" || strings.ContainsFunc(name, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }) || name[0] < 'a' {
		return fmt.Errorf("%s is not a field name", strconv.QuoteToASCII(name))
	}
	folded := strings.ToLower(name)
	if seen[folded] {
		return fmt.Errorf("duplicate field %q", name)
	}
	seen[folded] = true
	return nil
}
