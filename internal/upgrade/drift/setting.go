package drift

import (
	"fmt"
	"strings"
)

// Setting is a flag or a mount of a static pod that kubeadm would not render. Its text is the one
// in a NodeReport.
type Setting struct {
	Component string // kube-apiserver
	Flag      string // without dashes; empty for a mount
	Mount     string // the path in the container; empty for a flag
}

const mountWord = "mount "

func (s Setting) String() string {
	if s.Flag != "" {
		return s.Component + " --" + s.Flag
	}
	return s.Component + " " + mountWord + s.Mount
}

// ParseSetting parses the text of a Setting.
func ParseSetting(text string) (Setting, error) {
	component, what, _ := strings.Cut(text, " ")
	flag, isFlag := strings.CutPrefix(what, "--")
	mount, isMount := strings.CutPrefix(what, mountWord)
	switch {
	case component != "" && isFlag && flag != "":
		return Setting{Component: component, Flag: flag}, nil
	case component != "" && isMount && strings.HasPrefix(mount, "/"):
		return Setting{Component: component, Mount: mount}, nil
	}
	return Setting{}, fmt.Errorf("cannot parse the security setting %q of the NodeReport", text)
}

// names returns the texts of settings.
func names(settings []Setting) []string {
	var out []string
	for _, s := range settings {
		out = append(out, s.String())
	}
	return out
}
