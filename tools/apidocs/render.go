package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

const preface = `<!-- Written by make generate, from api/v1alpha1. Do not edit. -->

# API reference

Refit's objects are in the group ` + "`refit.dev`" + `, version ` + "`v1alpha1`" + `, and belong to no namespace. ` +
	"`kubectl get refit`" + ` lists them all.

A length counts characters. A field that is not marked as required can be left out; its default is then filled in.
Everything in ` + "`status`" + ` is written by Refit.

`

// render is the whole reference.
func render(kinds []kind, words []group) string {
	var b strings.Builder
	b.WriteString(preface)
	b.WriteString("| kind | short names | columns |\n|---|---|---|\n")
	for _, k := range kinds {
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s |\n", k.Name, strings.ToLower(k.Name), codes(k.ShortNames), strings.Join(k.Columns, ", "))
	}
	for _, k := range kinds {
		renderKind(&b, k)
	}
	renderWords(&b, words)
	return b.String()
}

func renderKind(b *strings.Builder, k kind) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n", k.Name, k.Schema.Description)
	for _, part := range []string{"spec", "status"} {
		s, ok := k.Schema.Properties[part]
		if !ok {
			continue
		}
		fmt.Fprintf(b, "\n### %s %s\n\n%s\n\n| field | type | default | |\n|---|---|---|---|\n", k.Name, part, s.Description)
		for _, f := range fieldsOf("", s) {
			required := ""
			if f.required {
				required = ", required"
			}
			fmt.Fprintf(b, "| `%s` | %s%s | %s | %s |\n", f.path, typeOf(f.schema), required, defaultOf(f.schema), cell(f.schema.Description))
		}
	}
	if refusals := refusalsOf("", k.Schema); len(refusals) > 0 {
		fmt.Fprintf(b, "\n### Rules of a %s\n\n", k.Name)
		for _, r := range refusals {
			if r.path == "" {
				fmt.Fprintf(b, "- %s\n", r.message)
			} else {
				fmt.Fprintf(b, "- `%s`: %s\n", r.path, r.message)
			}
		}
	}
}

// patterns are those that a reader should not have to read.
var patterns = map[string]string{
	`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`: "time",
	`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`:                         "duration, such as `1h30m`",
	`^v1\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$`:                   "version, such as `v1.36.3`, no pre-release",
	`^sha256:[0-9a-f]{64}$`:                                    "digest, `sha256:…`",
	`^(sha256:[0-9a-f]{64})?$`:                                 "digest, `sha256:…`, or empty",
	`^[0-9a-f]{32}$`:                                           "32 hexadecimal digits",
	`^[0-9a-f]{1,16}$`:                                         "hexadecimal number",
	`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`:                         "name of a node",
	`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`:            "value of a label",
	`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`:                            "name of a step",
}

// typeOf tells a field's type and bounds.
func typeOf(s *schema) string {
	switch {
	case s.IntOrString:
		return "number or percentage"
	case len(s.Enum) > 0:
		return "one of " + codes(s.Enum)
	case s.Type == "string":
		return textType(s)
	case s.Type == "integer":
		return numberType(s)
	case s.Type == "array" && s.Items.Type == "object":
		return fmt.Sprintf("list of at most %d", s.MaxItems)
	case s.Type == "array":
		return fmt.Sprintf("list of at most %d: %s", s.MaxItems, typeOf(s.Items))
	case s.AdditionalProperties != nil:
		return fmt.Sprintf("map of at most %d: %s", s.MaxProperties, typeOf(s.AdditionalProperties))
	default:
		return s.Type
	}
}

func textType(s *schema) string {
	if said, ok := patterns[s.Pattern]; ok {
		return said
	}
	length := fmt.Sprintf("at most %d", s.MaxLength)
	if s.MinLength > 0 {
		length = fmt.Sprintf("%d to %d", s.MinLength, s.MaxLength)
	}
	text := "text of " + length
	if s.Format == "byte" {
		text = "base64 of " + length
	}
	if s.Pattern != "" {
		text += ", `" + cell(s.Pattern) + "`"
	}
	return text
}

func numberType(s *schema) string {
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		return fmt.Sprintf("number, %d to %d", *s.Minimum, *s.Maximum)
	case s.Minimum != nil:
		return fmt.Sprintf("number, at least %d", *s.Minimum)
	default:
		return "number"
	}
}

// defaultOf tells a field's default. That of an object is told by its fields.
func defaultOf(s *schema) string {
	if s.Default == nil || s.Type == "object" {
		return ""
	}
	if text, ok := s.Default.(string); ok {
		return "`" + text + "`"
	}
	text, err := json.Marshal(s.Default)
	if err != nil {
		return ""
	}
	return "`" + string(text) + "`"
}

func renderWords(b *strings.Builder, groups []group) {
	b.WriteString("\n## Values\n\nWhat the values of some fields mean.\n")
	for _, g := range groups {
		if g.typ != "" && g.explained() {
			renderGroup(b, g.typ, g)
		}
	}
	b.WriteString("\n## Conditions, reasons and annotations\n")
	for _, g := range groups {
		if g.typ == "" {
			renderGroup(b, "", g)
		}
	}
}

func renderGroup(b *strings.Builder, title string, g group) {
	if title != "" {
		fmt.Fprintf(b, "\n### %s\n", title)
	} else {
		fmt.Fprintf(b, "\n%s\n", g.doc)
	}
	b.WriteString("\n| value | meaning |\n|---|---|\n")
	for _, w := range g.words {
		fmt.Fprintf(b, "| `%s` | %s |\n", w.value, cell(w.meaning))
	}
}

// codes lists words as code.
func codes(words []string) string {
	var all []string
	for _, w := range words {
		all = append(all, "`"+w+"`")
	}
	return strings.Join(all, ", ")
}

// valueLine is a line of a description that explains one value; it stays a line.
var valueLine = regexp.MustCompile(`^[A-Z][A-Za-z]*: `)

// cell is a text as one cell of a table.
func cell(text string) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		switch {
		case i == 0:
		case valueLine.MatchString(line):
			b.WriteString("<br>")
		default:
			b.WriteString(" ")
		}
		b.WriteString(strings.ReplaceAll(line, "|", `\|`))
	}
	return b.String()
}
