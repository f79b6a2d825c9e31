package release

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/upgrade/configpatch"
	"github.com/refit-dev/refit/internal/upgrade/signedconfig"
)

// configurationVersion is the version of the ClusterConfiguration that a publisher writes. Clusters
// may have an older one.
const configurationVersion = "kubeadm.k8s.io/v1beta4"

// maxConfigurationFile bounds the file of a publisher.
const maxConfigurationFile = 64 << 10

// configurationFile is the file that a publisher writes: a part of a ClusterConfiguration.
type configurationFile struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`

	refitv1alpha1.ClusterConfigurationPatch
}

// readConfiguration reads what a ClusterRelease sets in the ClusterConfiguration.
func readConfiguration(path string) (*refitv1alpha1.ClusterConfigurationPatch, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read --cluster-configuration: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxConfigurationFile+1))
	if err == nil && len(text) > maxConfigurationFile {
		err = fmt.Errorf("it has more than %d bytes", maxConfigurationFile)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	patch, err := parseConfiguration(text)
	if err != nil {
		return nil, exit.Usagef("--cluster-configuration %s: %w", path, err)
	}
	return patch, nil
}

func parseConfiguration(text []byte) (*refitv1alpha1.ClusterConfigurationPatch, error) {
	var file configurationFile
	if err := yaml.UnmarshalStrict(text, &file); err != nil {
		return nil, fmt.Errorf("a ClusterRelease sets only %s: %w", strings.Join(configpatch.Sections(), ", "), err)
	}
	if file.APIVersion != configurationVersion || file.Kind != "ClusterConfiguration" {
		return nil, errors.New("it is not a ClusterConfiguration with apiVersion " + configurationVersion)
	}
	return &file.ClusterConfigurationPatch, signedconfig.Validate(&file.ClusterConfigurationPatch)
}
