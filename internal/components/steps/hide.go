package steps

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/component"
)

// Hide removes values of Secrets from a text: the API server quotes the values that it refuses.
func (r *Run) Hide(text string) string {
	var hidden []string
	for _, value := range r.secret {
		hidden = append(hidden, spellings(value)...)
	}
	slices.SortFunc(hidden, func(a, b string) int { return len(b) - len(a) }) // one can contain another
	for _, spelling := range hidden {
		text = strings.ReplaceAll(text, spelling, component.Masked)
	}
	return text
}

// minHidden is the length from which a text without its white space is hidden: shorter ones occur
// in every message.
const minHidden = 4

// spellings returns a value as errors have it: as it is, quoted as in Go or in JSON, JSON in
// quotes, or in base64. A template may have removed white space around it.
func spellings(value string) []string {
	trimmed := strings.TrimSpace(value)
	if len(trimmed) < minHidden {
		trimmed = value
	}
	all := []string{trimmed}
	const quotes = 2
	for range quotes {
		for _, text := range slices.Clone(all) {
			all = append(all, within(strconv.Quote(text)), within(strconv.QuoteToASCII(text)), inJSON(text, true), inJSON(text, false))
		}
		slices.Sort(all)
		all = slices.Compact(all)
	}
	for _, text := range []string{value, trimmed} {
		all = append(all, base64.StdEncoding.EncodeToString([]byte(text)))
	}
	return all
}

func inJSON(text string, html bool) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(html)
	if err := encoder.Encode(text); err != nil {
		return text
	}
	return within(strings.TrimSpace(out.String()))
}

// within returns what is between quotes.
func within(quoted string) string { return quoted[1 : len(quoted)-1] }
