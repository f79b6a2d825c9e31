package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
)

// render writes facts as JSON with one entry per line, so that diffs are readable.
func render(facts *kubefacts.Facts) ([]byte, error) {
	var text bytes.Buffer
	if err := renderStruct(&text, reflect.ValueOf(*facts), ""); err != nil {
		return nil, fmt.Errorf("rendering the facts: %w", err)
	}
	text.WriteByte('\n')
	return text.Bytes(), nil
}

func renderStruct(text *bytes.Buffer, value reflect.Value, indent string) error {
	text.WriteString("{")
	for i := range value.NumField() {
		name, _, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ",")
		fmt.Fprintf(text, "%s\n%s  %q: ", comma(i), indent, name)
		var err error
		switch field := value.Field(i); field.Kind() {
		case reflect.Struct:
			err = renderStruct(text, field, indent+"  ")
		case reflect.Slice:
			err = renderList(text, field, indent+"  ")
		default:
			err = renderLine(text, field.Interface())
		}
		if err != nil {
			return err
		}
	}
	fmt.Fprintf(text, "\n%s}", indent)
	return nil
}

func renderList(text *bytes.Buffer, list reflect.Value, indent string) error {
	text.WriteString("[")
	for i := range list.Len() {
		fmt.Fprintf(text, "%s\n%s  ", comma(i), indent)
		if err := renderLine(text, list.Index(i).Interface()); err != nil {
			return err
		}
	}
	fmt.Fprintf(text, "\n%s]", indent)
	return nil
}

func renderLine(text *bytes.Buffer, value any) error {
	encoder := json.NewEncoder(text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	text.Truncate(text.Len() - 1) // the encoder's newline
	return nil
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

// firstDifference returns the first line in which two texts differ, or an empty string.
func firstDifference(existing, fresh string) string {
	old, now := strings.Split(existing, "\n"), strings.Split(fresh, "\n")
	line := func(of []string, i int) string {
		if i < len(of) {
			return of[i]
		}
		return "(the end)"
	}
	for i := range max(len(old), len(now)) {
		if line(old, i) != line(now, i) {
			return fmt.Sprintf("line %d\n- %s\n+ %s", i+1, line(old, i), line(now, i))
		}
	}
	return ""
}
