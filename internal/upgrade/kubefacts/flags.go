package kubefacts

import "strings"

// Flag finds a flag of a component. Like the components, it ignores leading dashes and a value
// after "=", and treats underscores as dashes.
func (f *Facts) Flag(component, name string) (Flag, bool) {
	name = flagName(name)
	for _, flag := range f.Flags {
		if flag.Component == component && flag.Name == name {
			return flag, true
		}
	}
	return Flag{}, false
}

// HasFlag reports whether a component accepts a flag. It does not start with an unknown one.
func (f *Facts) HasFlag(component, name string) bool {
	_, known := f.Flag(component, name)
	return known
}

// RemovedFlags lists the flags of a component that one release accepts and another rejects, in
// alphabetical order.
func RemovedFlags(from, to *Facts, component string) []Flag {
	var removed []Flag
	for _, flag := range from.Flags {
		if flag.Component == component && !to.HasFlag(component, flag.Name) {
			removed = append(removed, flag)
		}
	}
	return removed
}

func flagName(name string) string {
	name, _, _ = strings.Cut(strings.TrimLeft(name, "-"), "=")
	return strings.ReplaceAll(name, "_", "-")
}
