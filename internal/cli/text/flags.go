package text

import (
	"fmt"
	"slices"
)

// outputFlags are not copied to another command.
var outputFlags = []string{"output", "wide", "verbose", "timeout"}

// FlagWords returns the words of a flag in a command line to copy.
func FlagWords(name string, value interface {
	fmt.Stringer
	Type() string
},
) (words []string) {
	if slices.Contains(outputFlags, name) {
		return nil
	}
	if value.Type() == "bool" {
		return []string{"--" + name}
	}
	values := []string{value.String()}
	if list, ok := value.(interface{ GetSlice() []string }); ok {
		values = list.GetSlice()
	}
	for _, v := range values {
		words = append(words, "--"+name, Quote(v))
	}
	return words
}
