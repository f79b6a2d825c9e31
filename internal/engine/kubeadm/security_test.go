package kubeadm

import (
	"slices"
	"testing"
)

func TestSecuritySettingsThatAnUpgradeWouldLose(t *testing.T) {
	rendered := onDisk(t)
	const at = "    - --allow-privileged=true\n"
	mount := "    volumeMounts:\n    - mountPath: /etc/kubernetes/audit\n      name: audit\n"
	for situation, c := range map[string]struct {
		component string
		changes   []string
		want      []string
	}{
		"none":                        {APIServer, nil, nil},
		"a flag of audit":             {APIServer, []string{at, at + "    - --audit-policy-file=/secret.yaml\n"}, []string{"kube-apiserver --audit-policy-file"}},
		"encryption":                  {APIServer, []string{at, at + "    - --encryption-provider-config=/secret.yaml\n"}, []string{"kube-apiserver --encryption-provider-config"}},
		"another value":               {APIServer, []string{"--authorization-mode=Node,RBAC", "--authorization-mode=Node,RBAC,Webhook"}, []string{"kube-apiserver --authorization-mode"}},
		"a flag that is not security": {APIServer, []string{at, at + "    - --v=4\n"}, nil},
		"a flag that kubeadm adds":    {APIServer, []string{"    - --client-ca-file=/etc/kubernetes/pki/ca.crt\n", ""}, nil},
		"a mount of its file": {
			APIServer,
			[]string{at, at + "    - --audit-policy-file=/etc/kubernetes/audit/policy.yaml\n", "    volumeMounts:\n", mount},
			[]string{"kube-apiserver --audit-policy-file", "kube-apiserver mount /etc/kubernetes/audit"},
		},
		"a mount that a file may name": {
			APIServer,
			[]string{at, at + "    - --encryption-provider-config=/etc/kubernetes/pki/encryption.yaml\n", "    volumeMounts:\n", mount},
			[]string{"kube-apiserver --encryption-provider-config", "kube-apiserver mount /etc/kubernetes/audit"},
		},
		"a value as a word of its own": {
			APIServer, []string{at, at + "    - --audit-policy-file\n    - /secret.yaml\n"}, []string{"kube-apiserver --audit-policy-file"},
		},
		"another mount":     {APIServer, []string{"    volumeMounts:\n", mount}, nil},
		"another component": {Scheduler, []string{"    - --leader-elect=true\n", "    - --leader-elect=true\n    - --tls-min-version=VersionTLS13\n"}, []string{"kube-scheduler --tls-min-version"}},
	} {
		t.Run(situation, func(t *testing.T) {
			disk := replaced(rendered, c.component, c.changes...)
			if got := LostSecurity(disk, rendered); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
