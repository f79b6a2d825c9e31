package keep

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

func mapping() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"} }

func truth() *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true"} }

// text returns a string, quoted if it would be read as something else, such as true.
func text(value string) *yaml.Node {
	node := &yaml.Node{}
	node.SetString(value)
	if read := (yaml.Node{Kind: yaml.ScalarNode, Value: value}); read.ShortTag() != "!!str" {
		node.Style = yaml.DoubleQuotedStyle
	}
	return node
}

// valueOf returns the value of a name in a mapping, or nil.
func valueOf(in *yaml.Node, name string) *yaml.Node {
	if in == nil || in.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(in.Content); i += 2 {
		if in.Content[i].Value == name {
			return in.Content[i+1]
		}
	}
	return nil
}

// textAt returns the text of a name in a mapping, or an empty string.
func textAt(in *yaml.Node, name string) string {
	if value := valueOf(in, name); value != nil && value.Kind == yaml.ScalarNode {
		return value.Value
	}
	return ""
}

// items returns the items of a list, or none.
func items(list *yaml.Node) []*yaml.Node {
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil
	}
	return list.Content
}

// set sets a name in a mapping.
func set(in *yaml.Node, name string, value *yaml.Node) {
	for i := 0; i+1 < len(in.Content); i += 2 {
		if in.Content[i].Value == name {
			in.Content[i+1] = value
			return
		}
	}
	in.Content = append(in.Content, text(name), value)
}

// ensure returns the mapping or list of a name, and adds it if it is missing or null. Without
// content it is written as {} or [], which would put additions into the same line.
func ensure(in *yaml.Node, name string, kind yaml.Kind) (*yaml.Node, error) {
	value := valueOf(in, name)
	if value == nil || value.Kind == yaml.ScalarNode && value.Tag == "!!null" {
		value = &yaml.Node{Kind: kind}
		set(in, name, value)
	}
	if value.Kind != kind {
		return nil, fmt.Errorf("%s has another type", name)
	}
	if len(value.Content) == 0 {
		value.Style &^= yaml.FlowStyle
	}
	return value, nil
}
