package form

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// wrongType returns why an answer is none of the type of an item, or nothing.
func wrongType(item *refitv1alpha1.FormItem, answer any) string {
	switch item.Type {
	case refitv1alpha1.FormSwitch:
		if _, is := answer.(bool); !is {
			return "must be true or false"
		}
	case refitv1alpha1.FormNumber:
		switch _, is := numeral(answer); {
		case !is:
			return "must be a number"
		case !exact(answer):
			return fmt.Sprintf("must be between -%d and %d", maxInteger, maxInteger)
		}
	case refitv1alpha1.FormText, refitv1alpha1.FormChoice, refitv1alpha1.FormPassword:
		text, is := answer.(string)
		switch {
		case !is:
			return "must be a text"
		case len(text) > maxText:
			return fmt.Sprintf("must have at most %d bytes", maxText)
		case strings.ContainsFunc(text, unwritable):
			return "must not have control characters, except tabs and line breaks"
		}
	}
	return ""
}

// mismatch returns why the options or the pattern of an item do not permit an answer, or nothing.
func mismatch(item *refitv1alpha1.FormItem, answer any) string {
	if item.Type == refitv1alpha1.FormChoice {
		if !slices.ContainsFunc(item.Options, func(o refitv1alpha1.FormOption) bool { return o.Value == answer }) {
			return "must be one of the options"
		}
		return ""
	}
	if item.Pattern == "" {
		return ""
	}
	text, is := answer.(string)
	if !is {
		text, _ = numeral(answer)
	}
	pattern, err := whole(item.Pattern)
	if err != nil || !pattern.MatchString(text) {
		return cmp.Or(item.Message, "must match the pattern "+item.Pattern)
	}
	return ""
}

// numeral returns a number as a text, without an exponent.
func numeral(answer any) (string, bool) {
	switch n := answer.(type) {
	case int64:
		return strconv.FormatInt(n, 10), true
	case float64:
		return strconv.FormatFloat(n, 'f', -1, 64), !math.IsInf(n, 0) && !math.IsNaN(n)
	}
	return "", false
}

// DecodeDefaults turns the defaults of a form, which were decoded as json.Number, into integers and
// floats.
func DecodeDefaults(f *refitv1alpha1.ComponentForm) error {
	if f == nil {
		return nil
	}
	for item := range items(f) {
		if err := utiljson.ConvertInterfaceNumbers(&item.Default, 0); err != nil {
			return fmt.Errorf("form: the default of %s: %w", refitv1alpha1.Clip(item.Name, 63), err)
		}
	}
	return nil
}

// maxInteger is the largest integer that no other one is rounded to in JSON: its numbers are
// float64 in browsers and in encoding/json.
const maxInteger = 1<<53 - 1

// exact reports whether a number is the one that a user has typed.
func exact(answer any) bool {
	switch n := answer.(type) {
	case int64:
		return -maxInteger <= n && n <= maxInteger
	case float64:
		return math.Abs(n) <= maxInteger
	}
	return false
}

// unwritable reports whether values in YAML cannot have a character, or would have another one.
func unwritable(r rune) bool {
	return unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r' || r == '\uFFFE' || r == '\uFFFF'
}

// Integers returns answers in which whole numbers are integers: encoding/json has floats only.
func Integers(answers map[string]any) Answers {
	out := Answers{}
	for name, answer := range answers {
		if n, is := answer.(float64); is && n == math.Trunc(n) && math.Abs(n) <= maxInteger {
			answer = int64(n)
		}
		out[name] = answer
	}
	return out
}
