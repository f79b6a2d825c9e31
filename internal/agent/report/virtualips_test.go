package report

import (
	"reflect"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestVirtualIPs(t *testing.T) {
	moved := func(software refitv1alpha1.VirtualIPSoftware, address string, checked bool) refitv1alpha1.VirtualIPFacts {
		return refitv1alpha1.VirtualIPFacts{Address: address, Software: software, HealthCheck: &checked}
	}
	shared := moved(refitv1alpha1.KubeVIP, "10.0.0.100", false)
	shared.Shared = true
	const instance = `
vrrp_script api { # a comment with {
  script "/usr/bin/curl -fsk https://localhost:6443/readyz"
}
vrrp_instance api {
  state BACKUP
  authentication { auth_type PASS
    auth_pass secret }
  virtual_ipaddress {
    10.0.0.100/24 dev eth0 label eth0:api ! the endpoint
    10.0.0.101
  }
  CHECK
}
`
	kubeVIP := func(env ...string) map[string]string {
		text := "apiVersion: v1\nkind: Pod\nmetadata: {name: kube-vip}\nspec:\n  containers:\n  - name: kube-vip\n    image: ghcr.io/kube-vip/kube-vip:v0.9.1\n    env:\n"
		for _, e := range env {
			name, value, _ := strings.Cut(e, "=")
			text += "    - {name: " + name + ", value: '" + value + "'}\n"
		}
		return map[string]string{"/etc/kubernetes/manifests/kube-vip.yaml": text}
	}
	for situation, tt := range map[string]struct {
		files map[string]string
		want  []refitv1alpha1.VirtualIPFacts
	}{
		"neither is installed": {nil, nil},
		"keepalived without a check": {
			map[string]string{keepalivedConf: strings.Replace(instance, "CHECK", "track_interface { eth0 }", 1)},
			[]refitv1alpha1.VirtualIPFacts{moved(refitv1alpha1.Keepalived, "10.0.0.100", false), moved(refitv1alpha1.Keepalived, "10.0.0.101", false)},
		},
		"keepalived with a script": {
			map[string]string{keepalivedConf: strings.Replace(instance, "CHECK", "track_script { api }", 1)},
			[]refitv1alpha1.VirtualIPFacts{moved(refitv1alpha1.Keepalived, "10.0.0.100", true), moved(refitv1alpha1.Keepalived, "10.0.0.101", true)},
		},
		"keepalived with an empty check": {
			map[string]string{keepalivedConf: "vrrp_instance api {\n virtual_ipaddress { 10.0.0.100 }\n track_script {\n # api\n }\n}\n"},
			[]refitv1alpha1.VirtualIPFacts{moved(refitv1alpha1.Keepalived, "10.0.0.100", false)},
		},
		"keepalived whose group has a check": {
			map[string]string{keepalivedConf: "vrrp_instance api {\n virtual_ipaddress { 10.0.0.100 }\n}\nvrrp_sync_group all {\n group {\n api\n }\n track_process { kube-apiserver }\n}\n"},
			[]refitv1alpha1.VirtualIPFacts{moved(refitv1alpha1.Keepalived, "10.0.0.100", true)},
		},
		"keepalived with included files": {
			map[string]string{
				keepalivedConf:                       "global_defs { router_id x }\ninclude conf.d/*.conf\n",
				"/etc/keepalived/conf.d/api.conf":    strings.Replace(instance, "CHECK", "include check.conf", 1),
				"/etc/keepalived/conf.d/check.conf":  "",
				"/etc/keepalived/conf.d/other.bak":   "vrrp_instance x { virtual_ipaddress { 10.0.0.9 } }",
				"/etc/keepalived/conf.d/check2.conf": "",
			},
			[]refitv1alpha1.VirtualIPFacts{moved(refitv1alpha1.Keepalived, "10.0.0.100", false), moved(refitv1alpha1.Keepalived, "10.0.0.101", false)},
		},
		"kube-vip with leader election": {
			kubeVIP("cp_enable=true", "vip_arp=true", "vip_leaderelection=true", "address=10.0.0.100"),
			[]refitv1alpha1.VirtualIPFacts{moved(refitv1alpha1.KubeVIP, "10.0.0.100", true)},
		},
		"kube-vip with an address of each family": {
			kubeVIP("cp_enable=true", "vip_arp=true", "vip_leaderelection=true", "address=10.0.0.100, fd00::100"),
			[]refitv1alpha1.VirtualIPFacts{moved(refitv1alpha1.KubeVIP, "10.0.0.100", true), moved(refitv1alpha1.KubeVIP, "fd00::100", true)},
		},
		"kube-vip with routing tables": {
			kubeVIP("cp_enable=true", "vip_routingtable=true", "address=10.0.0.100"), []refitv1alpha1.VirtualIPFacts{shared},
		},
		"kube-vip without an address": {kubeVIP("cp_enable=true", "vip_leaderelection=true"), nil},
		"kube-vip with BGP":           {kubeVIP("cp_enable=true", "bgp_enable=true", "address=10.0.0.100"), []refitv1alpha1.VirtualIPFacts{shared}},
		"kube-vip for Services only":  {kubeVIP("svc_enable=true", "address=10.0.0.100"), nil},
	} {
		t.Run(situation, func(t *testing.T) {
			write, err := virtualIPs(t.Context(), rooted(t, tt.files))
			must(t, err)
			var got refitv1alpha1.NodeReportStatus
			if write(&got); !reflect.DeepEqual(got.VirtualIPs, tt.want) {
				t.Errorf("got %+v", got.VirtualIPs)
			}
		})
	}
}

func TestKeepalivedThatIncludesItself(t *testing.T) {
	if _, err := virtualIPs(t.Context(), rooted(t, map[string]string{keepalivedConf: "include keepalived.conf\n"})); err == nil {
		t.Error("no error")
	}
}
