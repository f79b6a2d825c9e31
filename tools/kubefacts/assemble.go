package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
)

// What the questions answer. The fields of a component are all there are; those
// that it was not asked for stay empty.
type (
	componentAnswer struct {
		Flags            []kubefacts.Flag            `json:"flags"`
		Gates            []kubefacts.Gate            `json:"gates"`
		AdmissionPlugins []kubefacts.AdmissionPlugin `json:"admissionPlugins"`
		RuntimeConfig    []string                    `json:"runtimeConfig"`
		APIs             []kubefacts.API             `json:"apis"`
		Controllers      []kubefacts.Controller      `json:"controllers"`
		Config           kubefacts.Fields            `json:"config"`
	}
	kubeadmAnswer struct {
		kubefacts.Kubeadm
		Etcd            string `json:"etcd"`
		MinExternalEtcd string `json:"minExternalEtcd"`
		CoreDNS         string `json:"coreDNS"`
		Pause           string `json:"pause"`
	}
)

// assemble makes the facts of a release out of its answers.
func assemble(release string, answers map[string]string) (*kubefacts.Facts, error) {
	var kubeadm kubeadmAnswer
	if err := read(answers, "kubeadm", &kubeadm); err != nil {
		return nil, err
	}
	facts := &kubefacts.Facts{
		Version: release,
		Etcd:    kubeadm.Etcd, MinExternalEtcd: kubeadm.MinExternalEtcd, CoreDNS: kubeadm.CoreDNS, Pause: kubeadm.Pause,
		Kubeadm: kubeadm.Kubeadm,
	}
	gates := map[string][]kubefacts.Gate{}
	for _, component := range kubefacts.Components() {
		var answer componentAnswer
		if err := read(answers, component, &answer); err != nil {
			return nil, err
		}
		for _, flag := range answer.Flags {
			flag.Component = component
			facts.Flags = append(facts.Flags, flag)
		}
		gates[component] = answer.Gates
		switch component {
		case kubefacts.KubeAPIServer:
			facts.AdmissionPlugins, facts.RuntimeConfig = answer.AdmissionPlugins, answer.RuntimeConfig
			facts.APIs = nameResources(answer.APIs)
		case kubefacts.KubeControllerManager:
			facts.Controllers = answer.Controllers
		case kubefacts.Kubelet:
			facts.KubeletConfig = answer.Config
		case kubefacts.KubeProxy:
			facts.KubeProxyConfig = answer.Config
		}
	}
	facts.Gates = mergeGates(gates)
	return facts, nil
}

// read decodes one answer, and refuses what it does not understand: a question
// that tells more than is kept is a mistake in one of the two.
func read(answers map[string]string, question string, into any) error {
	text, answered := answers[question]
	if !answered {
		return fmt.Errorf("nobody answered for %s", question)
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("reading what %s answered: %w", question, err)
	}
	return nil
}

// mergeGates makes one entry of a gate that is the same in several components, and
// several where they differ.
func mergeGates(of map[string][]kubefacts.Gate) []kubefacts.Gate {
	var merged []kubefacts.Gate
	for _, component := range kubefacts.Components() {
		for _, gate := range of[component] {
			same := slices.IndexFunc(merged, func(other kubefacts.Gate) bool { return equalGates(gate, other) })
			if same < 0 {
				merged, same = append(merged, gate), len(merged)
			}
			merged[same].Components = append(merged[same].Components, component)
		}
	}
	for i := range merged {
		if len(merged[i].Components) == len(kubefacts.Components()) {
			merged[i].Components = nil
		}
	}
	slices.SortStableFunc(merged, func(a, b kubefacts.Gate) int { return strings.Compare(a.Name, b.Name) })
	return merged
}

func equalGates(a, b kubefacts.Gate) bool {
	return a.Name == b.Name && a.Stage == b.Stage && a.Default == b.Default && a.Locked == b.Locked &&
		a.Deprecated == b.Deprecated && slices.Equal(a.Requires, b.Requires)
}

// nameResources gives kinds that are not served any more the resource of the same
// kind in another version, or of what replaced them.
func nameResources(apis []kubefacts.API) []kubefacts.API {
	named := slices.Clone(apis)
	for i := range named {
		if named[i].Resource != "" {
			continue
		}
		for _, other := range apis {
			sameKind := other.Group == named[i].Group && other.Kind == named[i].Kind
			successor := other.GVK().GroupVersion().String()+" "+other.Kind == named[i].Replacement && other.Kind == named[i].Kind
			if other.Resource != "" && (sameKind || successor) {
				named[i].Resource, named[i].Namespaced = other.Resource, other.Namespaced
				break
			}
		}
	}
	return named
}
