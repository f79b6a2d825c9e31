package bed

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/refit-dev/refit/test/testbed/cluster"
)

const (
	auditLog    = "/var/log/kubernetes/audit.log"
	auditPolicy = "/etc/kubernetes/audit-policy.yaml"
)

// AuditEvent has the fields of an audit event that tests read.
type AuditEvent struct {
	AuditID                  types.UID        `json:"auditID"`
	Stage                    string           `json:"stage"`
	Verb                     string           `json:"verb"`
	RequestURI               string           `json:"requestURI"`
	UserAgent                string           `json:"userAgent"`
	RequestReceivedTimestamp metav1.MicroTime `json:"requestReceivedTimestamp"`
	User                     struct {
		Username string `json:"username"`
	} `json:"user"`
}

// Audit makes the API server of the first control plane node log the requests of some users: once
// each is answered or, for a watch, once it is started. The users are a part of an audit rule.
func (b *Bed) Audit(ctx context.Context, users string) error {
	cp := b.First(cluster.RoleControlPlane)
	policy := "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- {level: Metadata, " + users + "}\n- {level: None}\n"
	if err := WriteOn(ctx, cp, auditPolicy, policy); err != nil {
		return err
	}
	const manifest = "/etc/kubernetes/manifests/kube-apiserver.yaml"
	text, err := ReadOn(ctx, cp, manifest)
	if err != nil {
		return err
	}
	changed, err := withAudit(text)
	if err != nil {
		return err
	}
	if err := WriteOn(ctx, cp, "/root/kube-apiserver.yaml", changed); err != nil {
		return err
	}
	if _, err := cp.Exec(ctx, "mv", "/root/kube-apiserver.yaml", manifest); err != nil {
		return err
	}
	return Until(ctx, "the API server to write an audit log", CheckTimeout, func(ctx context.Context) error {
		ctx, cancel := Soon(ctx)
		defer cancel()
		if _, err := b.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{}); err != nil {
			return err
		}
		_, err := cp.Exec(ctx, "test", "-s", auditLog)
		return err
	})
}

// withAudit adds the flags and volumes of an audit log to the manifest of an API server.
func withAudit(manifest string) (string, error) {
	var pod corev1.Pod
	if err := yaml.Unmarshal([]byte(manifest), &pod); err != nil {
		return "", err
	}
	c := &pod.Spec.Containers[0]
	c.Command = append(c.Command, "--audit-policy-file="+auditPolicy, "--audit-log-path="+auditLog)
	for name, path := range map[string]string{"audit-policy": auditPolicy, "audit-log": "/var/log/kubernetes"} {
		kind := corev1.HostPathDirectoryOrCreate
		if name == "audit-policy" {
			kind = corev1.HostPathFile
		}
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: path})
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			HostPath: &corev1.HostPathVolumeSource{Path: path, Type: &kind},
		}})
	}
	changed, err := yaml.Marshal(&pod)
	return string(changed), err
}

// Audited returns the logged requests that match. There must be some: an empty log shows nothing.
func (b *Bed) Audited(ctx context.Context, matches func(*AuditEvent) bool) ([]AuditEvent, error) {
	text, err := ReadOn(ctx, b.First(cluster.RoleControlPlane), auditLog)
	if err != nil {
		return nil, err
	}
	var found []AuditEvent
	for line := range strings.Lines(text) {
		var e AuditEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return nil, err
		}
		if matches(&e) {
			found = append(found, e)
		}
	}
	if len(found) == 0 {
		return nil, errors.New("the audit log has no such request")
	}
	return found, nil
}
