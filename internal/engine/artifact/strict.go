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

// mostDepth is deeper than anything that is read here.
const mostDepth = 16

// strictJSON reads one JSON document into a value: no field that the value does not have, none twice, nothing behind it.
func strictJSON(raw []byte, into any) error {
	if err := noDuplicates(raw); err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("it cannot be read: %w", err)
	}
	return nil
}

// noDuplicates walks through a document. encoding/json takes a field's name in any case and the last of several, other readers take the first: a document that
// two readers can read differently is refused. So are names that are not plain letters, which letters of other scripts could fold into.
func noDuplicates(raw []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if err := walk(decoder, 0); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something stands behind its end")
	}
	return nil
}

func walk(decoder *json.Decoder, depth int) error {
	token, err := decoder.Token()
	if err != nil {
		return fmt.Errorf("it is no JSON: %w", err)
	}
	delim, nested := token.(json.Delim)
	if !nested {
		return nil
	}
	if depth >= mostDepth {
		return errors.New("it is nested too deeply")
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
		return fmt.Errorf("it is no JSON: %w", err)
	}
	return nil
}

func walkName(decoder *json.Decoder, seen map[string]bool) error {
	token, err := decoder.Token()
	if err != nil {
		return fmt.Errorf("it is no JSON: %w", err)
	}
	name, ok := token.(string)
	if !ok || name == "" || strings.ContainsFunc(name, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }) || name[0] < 'a' {
		return fmt.Errorf("%s is no name of a field", strconv.QuoteToASCII(name))
	}
	folded := strings.ToLower(name)
	if seen[folded] {
		return fmt.Errorf("field %q is there twice", name)
	}
	seen[folded] = true
	return nil
}
