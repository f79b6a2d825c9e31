package kubefacts

import "slices"

// AdmissionPlugin finds an admission plugin of kube-apiserver.
func (f *Facts) AdmissionPlugin(name string) (AdmissionPlugin, bool) {
	for _, plugin := range f.AdmissionPlugins {
		if plugin.Name == name {
			return plugin, true
		}
	}
	return AdmissionPlugin{}, false
}

// RemovedAdmissionPlugins lists the plugins that one release has and another rejects.
func RemovedAdmissionPlugins(from, to *Facts) []AdmissionPlugin {
	var removed []AdmissionPlugin
	for _, plugin := range from.AdmissionPlugins {
		if _, known := to.AdmissionPlugin(plugin.Name); !known {
			removed = append(removed, plugin)
		}
	}
	return removed
}

// Controller finds a controller of kube-controller-manager by its name or a former name.
func (f *Facts) Controller(name string) (Controller, bool) {
	for _, controller := range f.Controllers {
		if controller.Name == name || slices.Contains(controller.Aliases, name) {
			return controller, true
		}
	}
	return Controller{}, false
}

// ConfigVersion finds a version of kubeadm's configuration, such as v1beta4.
func (k Kubeadm) ConfigVersion(version string) (ConfigVersion, bool) {
	for _, config := range k.ConfigVersions {
		if config.Version == version {
			return config, true
		}
	}
	return ConfigVersion{}, false
}
