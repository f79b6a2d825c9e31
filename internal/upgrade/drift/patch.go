package drift

import "slices"

// PatchOperation is an operation of a JSON patch, which kubeadm applies to a rendered manifest.
type PatchOperation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

type patchVolume struct {
	Name     string        `json:"name"`
	HostPath patchHostPath `json:"hostPath"`
}

type patchHostPath struct {
	Path string `json:"path"`
	Type string `json:"type,omitempty"`
}

type patchMount struct {
	Name      string `json:"name"`
	MountPath string `json:"mountPath"`
	ReadOnly  bool   `json:"readOnly,omitempty"`
}

// rendered are the security flags that kubeadm renders itself. A patch can append a flag, but not
// replace one at an unknown place in the command.
var rendered = []string{
	"authentication-kubeconfig", "authorization-kubeconfig", "authorization-mode", "client-ca-file", "client-cert-auth",
	"enable-admission-plugins", "peer-client-cert-auth", "peer-trusted-ca-file", "requestheader-allowed-names",
	"requestheader-client-ca-file", "requestheader-extra-headers-prefix", "requestheader-group-headers",
	"requestheader-username-headers", "service-account-issuer", "service-account-key-file", "service-account-private-key-file",
	"service-account-signing-key-file", "tls-cert-file", "tls-private-key-file", "trusted-ca-file", "use-service-account-credentials",
}

// PatchFile is the name of the file with the patch of a component: kubeadm takes its target and its
// type from it.
func PatchFile(component string) string { return component + "+json.yaml" }

// patch returns a patch with settings for the rendered manifest of their component, or nil if there
// is none.
func (in *Input) patch(settings []Setting) []PatchOperation {
	var out []PatchOperation
	add := func(list string, value any) {
		out = append(out, PatchOperation{Op: "add", Path: "/spec/" + list + "/-", Value: value})
	}
	var volumes []Mount
	for _, s := range settings {
		if slices.Contains(rendered, s.Flag) || notRunning(in, s) != "" || secret(in, s) != "" || notHostPath(in, s) != "" {
			return nil
		}
		for _, value := range in.pod(s).Flags[s.Flag] {
			add("containers/0/command", "--"+s.Flag+"="+value)
		}
		if mount, is := in.pod(s).mount(s.Mount); is {
			volumes = append(volumes, mount)
		}
	}
	if len(volumes) > 0 {
		in.nameVolumes(settings[0].Component, volumes)
	}
	for _, v := range volumes {
		add("containers/0/volumeMounts", patchMount{Name: v.Volume, MountPath: v.Path, ReadOnly: v.ReadOnly})
		add("volumes", patchVolume{Name: v.Volume, HostPath: patchHostPath{Path: v.HostPath, Type: v.PathType}})
	}
	return out
}
