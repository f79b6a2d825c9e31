package settings

import (
	"sigs.k8s.io/yaml"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Overlay is the settings with others over them, as a file that is for many hosts has them: a field that it does not name stays.
func (s Settings) Overlay(text []byte) (Settings, error) {
	s.Sources = append([]string(nil), s.Sources...) // the decoder would write into the list that is there
	s.Kubeadm.IgnorePreflightErrors = append([]string(nil), s.Kubeadm.IgnorePreflightErrors...)
	err := yaml.UnmarshalStrict(text, &s)
	if err == nil {
		err = s.validate()
	}
	if err != nil {
		return s, node.ManualIntervention("SettingsInvalid", err, "mend the settings that were given for all hosts, then give them again",
			"the settings for this host cannot be used")
	}
	return s, nil
}
