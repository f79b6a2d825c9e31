package keep

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/drift"
)

// fields are the paths of the components in the ClusterConfiguration.
var fields = map[string][]string{
	kubeadm.APIServer:         {"apiServer"},
	kubeadm.ControllerManager: {"controllerManager"},
	kubeadm.Scheduler:         {"scheduler"},
	kubeadm.Etcd:              {"etcd", "local"},
}

const (
	extraArgs    = "extraArgs"
	extraVolumes = "extraVolumes"
	mapArgs      = "kubeadm.k8s.io/v1beta3" // the last version in which extraArgs are a map
)

// parse returns the root of a ClusterConfiguration.
func parse(text string) (document, root *yaml.Node, err error) {
	document = &yaml.Node{}
	if err := yaml.Unmarshal([]byte(text), document); err != nil {
		return nil, nil, fmt.Errorf("cannot parse the ClusterConfiguration in the ConfigMap %s: %w", configMap, err)
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode ||
		!strings.HasPrefix(textAt(document.Content[0], "apiVersion"), "kubeadm.k8s.io/") {
		return nil, nil, fmt.Errorf("the ConfigMap %s has no ClusterConfiguration", configMap)
	}
	return document, document.Content[0], nil
}

// readConfig reads what a decision depends on.
func readConfig(text string) (drift.Config, error) {
	_, root, err := parse(text)
	if err != nil {
		return drift.Config{}, err
	}
	config := drift.Config{RepeatsFlags: textAt(root, "apiVersion") != mapArgs, Volumes: map[string]map[string]string{}}
	for component, path := range fields {
		at := root
		for _, name := range path {
			at = valueOf(at, name)
		}
		names := map[string]string{}
		for _, volume := range items(valueOf(at, extraVolumes)) {
			names[textAt(volume, "name")] = textAt(volume, "mountPath")
		}
		config.Volumes[component] = names
	}
	return config, nil
}

// edit adds arguments and volumes to a ClusterConfiguration.
func edit(text string, additions []drift.Addition) (string, error) {
	document, root, err := parse(text)
	if err != nil {
		return "", err
	}
	asMap := textAt(root, "apiVersion") == mapArgs
	for _, a := range additions {
		at := root
		for _, name := range fields[a.Component] {
			if at, err = ensure(at, name, yaml.MappingNode); err != nil {
				return "", err
			}
		}
		if err := errors.Join(addArgs(at, a.Args, asMap), addVolumes(at, a.Volumes)); err != nil {
			return "", fmt.Errorf("cannot change %s of the ClusterConfiguration: %w", strings.Join(fields[a.Component], "."), err)
		}
	}
	return encode(document)
}

// encode writes a document as kubeadm does: lists are not indented.
func encode(document *yaml.Node) (string, error) {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := errors.Join(encoder.Encode(document), encoder.Close()); err != nil {
		return "", err
	}
	return out.String(), nil
}

// addArgs replaces all arguments of the same names, in place where there were some.
func addArgs(component *yaml.Node, args []drift.Arg, asMap bool) error {
	if len(args) == 0 {
		return nil
	}
	if asMap {
		into, err := ensure(component, extraArgs, yaml.MappingNode)
		if err != nil {
			return err
		}
		for _, arg := range args {
			set(into, arg.Name, text(arg.Value))
		}
		return nil
	}
	list, err := ensure(component, extraArgs, yaml.SequenceNode)
	if err != nil {
		return err
	}
	named := map[string]bool{}
	for _, arg := range args {
		named[arg.Name] = true
	}
	var kept []*yaml.Node
	for _, item := range list.Content {
		if !named[textAt(item, "name")] {
			kept = append(kept, item)
		}
	}
	list.Content = kept
	for _, arg := range args {
		item := mapping()
		set(item, "name", text(arg.Name))
		set(item, "value", text(arg.Value))
		list.Content = append(list.Content, item)
	}
	return nil
}

// addVolumes replaces volumes at the same paths in the container.
func addVolumes(component *yaml.Node, volumes []drift.Mount) error {
	if len(volumes) == 0 {
		return nil
	}
	list, err := ensure(component, extraVolumes, yaml.SequenceNode)
	if err != nil {
		return err
	}
	for _, v := range volumes {
		item := mapping()
		set(item, "hostPath", text(v.HostPath))
		set(item, "mountPath", text(v.Path))
		set(item, "name", text(v.Volume))
		if v.PathType != "" {
			set(item, "pathType", text(v.PathType))
		}
		if v.ReadOnly {
			set(item, "readOnly", truth())
		}
		replaceOrAppend(list, item)
	}
	return nil
}

func replaceOrAppend(list, item *yaml.Node) {
	for i, other := range list.Content {
		if textAt(other, "mountPath") == textAt(item, "mountPath") {
			list.Content[i] = item
			return
		}
	}
	list.Content = append(list.Content, item)
}
