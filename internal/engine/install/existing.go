package install

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// Existing is the configuration of an earlier install. A new one keeps it unless the user overrides
// it.
type Existing struct {
	Version    string // of Refit; empty if `refit install` did not install it
	Repository string // of the images
	Keys       map[string]string
	Settings   string
	Stores     string
	// PullSecrets are those of the agents' account. Tolerations are those of the controller, or of
	// refit-components if there is no controller, also the default ones.
	PullSecrets []string
	Tolerations []corev1.Toleration
	// Traces is the URL of the collector of traces.
	Traces string
	// Components is true if refit-components is installed.
	Components bool
}

// Existing reads the configuration of the installed version.
func (c *Cluster) Existing(ctx context.Context) (Existing, error) {
	var out Existing
	inventory, err := c.inventory(ctx)
	if err != nil {
		return out, err
	}
	out.Version = inventory.Version
	config, err := c.agentConfig(ctx)
	if err != nil {
		return out, err
	}
	out.Settings, out.Stores, out.Keys = config[settingsKey], config[storesKey], keysIn(config)
	if err := c.readPods(ctx, &out); err != nil {
		return out, err
	}
	placing, err := c.get(ctx, placerRef)
	if err != nil || placing == nil {
		return out, err
	}
	if at := strings.LastIndex(imageOf(placing), "/"+agentName); at > 0 {
		out.Repository = imageOf(placing)[:at]
	}
	return out, nil
}

// PinnedKeys reads the public keys that the hosts trust, by the name of their file. It needs fewer
// permissions than Existing.
func (c *Cluster) PinnedKeys(ctx context.Context) (map[string]string, error) {
	config, err := c.agentConfig(ctx)
	return keysIn(config), err
}

// agentConfig reads the configuration of the agents. It is nil if there is none.
func (c *Cluster) agentConfig(ctx context.Context) (map[string]string, error) {
	config, err := c.get(ctx, configRef)
	if err != nil || config == nil {
		return nil, err
	}
	data, _, err := unstructured.NestedStringMap(config.Object, "data")
	if err != nil {
		return nil, fmt.Errorf("cannot read the configuration of the agents: %w", err)
	}
	return data, nil
}

func keysIn(config map[string]string) map[string]string {
	keys := map[string]string{}
	for name, text := range config {
		if strings.HasSuffix(name, keySuffix) {
			keys[name] = text
		}
	}
	return keys
}

// readPods reads what the user chose for pods.
func (c *Cluster) readPods(ctx context.Context, out *Existing) error {
	found, err := c.get(ctx, accountRef)
	if err != nil {
		return err
	}
	if found != nil {
		var account corev1.ServiceAccount
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, &account); err != nil {
			return fmt.Errorf("cannot read %s: %w", accountRef, err)
		}
		for _, secret := range account.ImagePullSecrets {
			out.PullSecrets = append(out.PullSecrets, secret.Name)
		}
	}
	components, err := c.deployment(ctx, componentsRef)
	if err != nil {
		return err
	}
	if out.Components = components != nil; out.Components {
		out.Tolerations = components.Spec.Template.Spec.Tolerations
	}
	controller, err := c.deployment(ctx, controllerRef)
	if err != nil || controller == nil {
		return err
	}
	out.Tolerations = controller.Spec.Template.Spec.Tolerations
	for _, container := range controller.Spec.Template.Spec.Containers {
		for _, variable := range container.Env {
			if variable.Name == tracesVariable {
				out.Traces = variable.Value
			}
		}
	}
	return nil
}

// deployment reads a Deployment. It is nil if there is none.
func (c *Cluster) deployment(ctx context.Context, ref Ref) (*appsv1.Deployment, error) {
	found, err := c.get(ctx, ref)
	if err != nil || found == nil {
		return nil, err
	}
	out := &appsv1.Deployment{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, out); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", ref, err)
	}
	return out, nil
}

var (
	configRef     = Ref{APIVersion: "v1", Resource: "configmaps", Namespace: AgentNamespace, Name: agentName, Kind: kindConfigMap}
	accountRef    = Ref{APIVersion: "v1", Resource: "serviceaccounts", Namespace: AgentNamespace, Name: agentName, Kind: kindAccount}
	placerRef     = Ref{APIVersion: "apps/v1", Resource: "daemonsets", Namespace: AgentNamespace, Name: agentName, Kind: kindDaemonSet}
	removerRef    = Ref{APIVersion: "apps/v1", Resource: "daemonsets", Namespace: AgentNamespace, Name: removeName, Kind: kindDaemonSet}
	controllerRef = Ref{APIVersion: "apps/v1", Resource: "deployments", Namespace: SystemNamespace, Name: controllerName, Kind: kindDeployment}
	componentsRef = Ref{APIVersion: "apps/v1", Resource: "deployments", Namespace: ComponentsNamespace, Name: componentsName, Kind: kindDeployment}
)

// inventory reads the inventory of the cluster. It is empty if there is none.
func (c *Cluster) inventory(ctx context.Context) (Inventory, error) {
	found, err := c.get(ctx, inventoryRef)
	if err != nil || found == nil {
		return Inventory{}, err
	}
	return readInventory(found)
}

// WithSources returns the settings with other sources. All other settings stay as they are.
func WithSources(settings string, sources []string) (string, error) {
	fields := map[string]any{}
	if err := yaml.Unmarshal([]byte(settings), &fields); err != nil {
		return "", fmt.Errorf("cannot parse the settings of the agents: %w", err)
	}
	if fields == nil {
		fields = map[string]any{}
	}
	fields["sources"] = sources
	text, err := yaml.Marshal(fields)
	if err != nil {
		return "", fmt.Errorf("cannot write the settings of the agents: %w", err)
	}
	return string(text), nil
}

// HasSources reports whether the settings name a source of files.
func HasSources(settings string) bool {
	var fields struct {
		Sources []string `json:"sources"`
	}
	return yaml.Unmarshal([]byte(settings), &fields) == nil && len(fields.Sources) > 0
}
