package text_test

import (
	"testing"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
)

func TestKeepPages(t *testing.T) {
	kept := &cliv1alpha1.Keep{
		Cluster: "prod", Node: "cp-1", Kept: []string{"kube-scheduler --tls-min-version"},
		Diff: `--- kubeadm-config/ClusterConfiguration
+++ kubeadm-config/ClusterConfiguration
@@ -22,4 +22,7 @@
   podSubnet: 10.130.0.0/16
   serviceSubnet: 10.96.0.0/12
 proxy: {}
-scheduler: {}
+scheduler:
+  extraArgs:
+  - name: tls-min-version
+    value: VersionTLS13
`,
	}
	partly := *kept
	partly.NotKept = []cliv1alpha1.NotKept{
		{
			Component: "kube-apiserver", Settings: []string{"kube-apiserver --audit-log-path"},
			Reasons: []string{"kube-apiserver --audit-log-path is not the same on cp-2, cp-3"},
			Patch: &cliv1alpha1.PatchFile{
				Name: "kube-apiserver+json.yaml", Content: "- op: add\n  path: /spec/containers/0/command/-\n  value: --audit-log-path=/var/log/audit.log\n",
			},
		},
		{
			Component: "etcd", Settings: []string{"etcd --client-cert-auth"},
			Reasons: []string{"etcd --client-cert-auth is not the same on cp-2"},
		},
	}
	for name, page := range map[string]*cliv1alpha1.Keep{"all": kept, "partly": &partly} {
		t.Run(name, func(t *testing.T) {
			done := *page
			done.Changed = true
			golden(t, "keep-"+name, text.KeepPreview(page, text.Page{Width: 100})+text.Keep(&done, text.Page{Width: 100}), 100)
		})
	}
	unverified := *kept
	unverified.Changed = true
	unverified.Unverified = []cliv1alpha1.Unverified{{
		Node: "cp-2", Reason: "the agent on cp-2 did not report within 2m0s",
		Remedy: "On cp-2, run `systemctl status refit-agent; journalctl -u refit-agent` and fix the agent, then run `refit keep cp-1` again: " +
			"it changes nothing that is kept already",
	}}
	golden(t, "keep-unverified", text.Keep(&unverified, text.Page{Width: 100}), 100)
	golden(t, "keep-nothing", text.Keep(&cliv1alpha1.Keep{Cluster: "prod", Node: "cp-1"}, text.Page{Width: 100}), 100)
}
