package install

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Existing is what of an earlier install a new one keeps, unless a person says otherwise.
type Existing struct {
	Version    string // of Refit; empty: it was not installed by `refit install`
	Repository string // of the images
	Keys       map[string]string
	Settings   string
}

// Existing reads what is there.
func (c *Cluster) Existing(ctx context.Context) (Existing, error) {
	var out Existing
	inventory, err := c.inventory(ctx)
	if err != nil {
		return out, err
	}
	out.Version = inventory.Version
	config, err := c.get(ctx, Ref{APIVersion: "v1", Resource: "configmaps", Namespace: AgentNamespace, Name: agentName, Kind: kindConfigMap})
	if err != nil {
		return out, err
	}
	if config != nil {
		data, _, err := unstructured.NestedStringMap(config.Object, "data")
		if err != nil {
			return out, fmt.Errorf("reading the agents' configuration: %w", err)
		}
		out.Settings = data[settingsKey]
		delete(data, settingsKey)
		out.Keys = map[string]string{}
		for name, text := range data {
			if strings.HasSuffix(name, keySuffix) {
				out.Keys[name] = text
			}
		}
	}
	placing, err := c.get(ctx, placingRef)
	if err != nil || placing == nil {
		return out, err
	}
	if at := strings.LastIndex(imageOf(placing), "/"+agentName); at > 0 {
		out.Repository = imageOf(placing)[:at]
	}
	return out, nil
}

var (
	placingRef  = Ref{APIVersion: "apps/v1", Resource: "daemonsets", Namespace: AgentNamespace, Name: agentName, Kind: kindDaemonSet}
	removingRef = Ref{APIVersion: "apps/v1", Resource: "daemonsets", Namespace: AgentNamespace, Name: removeName, Kind: kindDaemonSet}
	runningRef  = Ref{APIVersion: "apps/v1", Resource: "deployments", Namespace: SystemNamespace, Name: controllerName, Kind: kindDeployment}
)

// inventory is the one in the cluster; empty if there is none.
func (c *Cluster) inventory(ctx context.Context) (Inventory, error) {
	found, err := c.get(ctx, inventoryRef)
	if err != nil || found == nil {
		return Inventory{}, err
	}
	return readInventory(found)
}

// WithSources are settings with other sources; whatever else is in them stays.
func WithSources(settings string, sources []string) (string, error) {
	fields := map[string]any{}
	if err := yaml.Unmarshal([]byte(settings), &fields); err != nil {
		return "", fmt.Errorf("reading the agents' settings: %w", err)
	}
	if fields == nil {
		fields = map[string]any{}
	}
	fields["sources"] = sources
	text, err := yaml.Marshal(fields)
	if err != nil {
		return "", fmt.Errorf("writing the agents' settings: %w", err)
	}
	return string(text), nil
}
