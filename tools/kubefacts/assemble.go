package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
)

// The results of queries. A component fills only the fields that apply to it.
type (
	componentResult struct {
		Flags            []kubefacts.Flag            `json:"flags"`
		Gates            []kubefacts.Gate            `json:"gates"`
		AdmissionPlugins []kubefacts.AdmissionPlugin `json:"admissionPlugins"`
		RuntimeConfig    []string                    `json:"runtimeConfig"`
		APIs             []kubefacts.API             `json:"apis"`
		Controllers      []kubefacts.Controller      `json:"controllers"`
		Config           kubefacts.Fields            `json:"config"`
	}
	kubeadmResult struct {
		kubefacts.Kubeadm
		Etcd            string `json:"etcd"`
		MinExternalEtcd string `json:"minExternalEtcd"`
		CoreDNS         string `json:"coreDNS"`
		Pause           string `json:"pause"`
	}
)

// assemble combines the results of a release.
func assemble(release string, results map[string]string) (*kubefacts.Facts, error) {
	var kubeadm kubeadmResult
	if err := read(results, "kubeadm", &kubeadm); err != nil {
		return nil, err
	}
	facts := &kubefacts.Facts{
		Version: release,
		Etcd:    kubeadm.Etcd, MinExternalEtcd: kubeadm.MinExternalEtcd, CoreDNS: kubeadm.CoreDNS, Pause: kubeadm.Pause,
		Kubeadm: kubeadm.Kubeadm,
	}
	gates := map[string][]kubefacts.Gate{}
	for _, component := range kubefacts.Components() {
		var result componentResult
		if err := read(results, component, &result); err != nil {
			return nil, err
		}
		for _, flag := range result.Flags {
			flag.Component = component
			facts.Flags = append(facts.Flags, flag)
		}
		gates[component] = result.Gates
		switch component {
		case kubefacts.KubeAPIServer:
			facts.AdmissionPlugins, facts.RuntimeConfig = result.AdmissionPlugins, result.RuntimeConfig
			facts.APIs = nameResources(result.APIs)
		case kubefacts.KubeControllerManager:
			facts.Controllers = result.Controllers
		case kubefacts.Kubelet:
			facts.KubeletConfig = result.Config
		case kubefacts.KubeProxy:
			facts.KubeProxyConfig = result.Config
		}
	}
	facts.Gates = mergeGates(gates)
	return facts, nil
}

// read decodes a result. An unknown field is an error: the query or the facts are out of date.
func read(results map[string]string, query string, into any) error {
	text, ok := results[query]
	if !ok {
		return fmt.Errorf("no result for %s", query)
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("reading the result for %s: %w", query, err)
	}
	return nil
}

// mergeGates merges gates that are identical in several components into one entry.
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

// nameResources gives kinds that are no longer served the resource of the same kind in another
// version, or of their replacement.
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
