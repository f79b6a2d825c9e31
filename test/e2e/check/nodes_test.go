//go:build e2e

package check

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"

	"github.com/refit-dev/refit/test/testbed/cluster"
)

// stoppedKubelet stops the kubelet of a node: the node becomes NotReady after 50 s.
func stoppedKubelet(name string) fault {
	systemctl := func(verb string) func(context.Context, *bed) error {
		return func(ctx context.Context, b *bed) error {
			_, err := b.mustNode(name).Exec(ctx, "systemctl", verb, "kubelet")
			return err
		}
	}
	return fault{seed: systemctl("stop"), restore: systemctl("start")}
}

// pretended is a simulated Node without a machine, with the status that a kubelet would write. Its
// lease is never renewed, so it soon becomes NotReady.
func pretended(name string, change func(*corev1.NodeStatus)) fault {
	return fault{
		seed: func(ctx context.Context, b *bed) error {
			node := &corev1.Node{
				ObjectMeta: metav1.ObjectMeta{Name: name},
				Spec:       corev1.NodeSpec{Taints: []corev1.Taint{{Key: "example.com/pretended", Effect: corev1.TaintEffectNoSchedule}}},
			}
			nodes := b.client.CoreV1().Nodes()
			if _, err := nodes.Create(ctx, node, metav1.CreateOptions{}); err != nil {
				return err
			}
			// Controllers update a new Node immediately.
			return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
				node, err := nodes.Get(ctx, name, metav1.GetOptions{})
				if err != nil {
					return err
				}
				node.Status = runningNode()
				change(&node.Status)
				_, err = nodes.UpdateStatus(ctx, node, metav1.UpdateOptions{})
				return err
			})
		},
		restore: func(ctx context.Context, b *bed) error {
			err := b.client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return err
		},
	}
}

// runningNode returns the status of a healthy node.
func runningNode() corev1.NodeStatus {
	return corev1.NodeStatus{
		NodeInfo: corev1.NodeSystemInfo{
			KubeletVersion: older, OperatingSystem: "linux", Architecture: "amd64", ContainerRuntimeVersion: "containerd://2.4.2",
		},
		Conditions: []corev1.NodeCondition{nodeCondition(corev1.NodeReady)},
	}
}

// nodeCondition returns a condition with status True.
func nodeCondition(name corev1.NodeConditionType) corev1.NodeCondition {
	return corev1.NodeCondition{Type: name, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now(), Reason: "Pretended"}
}

// notReadySoon allows the finding that a simulated node is NotReady.
func notReadySoon(name string) also {
	return also{check: "NodeNotReady", object: "Node " + name, why: "nobody renews the lease of a node without a machine"}
}

const manifests = "/etc/kubernetes/manifests/"

// moved moves the manifest of a static pod out of its directory, so that the pod terminates.
func moved(name, component string) fault {
	move := func(from, to string) func(context.Context, *bed) error {
		return func(ctx context.Context, b *bed) error {
			_, err := b.mustNode(name).Exec(ctx, "mv", from+component+".yaml", to+component+".yaml")
			return err
		}
	}
	return fault{seed: move(manifests, "/root/"), restore: move("/root/", manifests)}
}

// handEdited replaces a line in the manifest of a static pod with other lines.
func handEdited(name, component, line, becomes string) fault {
	file := manifests + component + ".yaml"
	var original string
	return fault{
		seed: func(ctx context.Context, b *bed) error {
			text, err := b.mustNode(name).Exec(ctx, "cat", file)
			if err != nil {
				return err
			}
			original = string(text)
			changed := strings.ReplaceAll(original, line, becomes)
			if changed == original {
				return fmt.Errorf("%s of %s has no %q", file, name, line)
			}
			return writeManifest(ctx, b.mustNode(name), file, changed)
		},
		restore: func(ctx context.Context, b *bed) error {
			if original == "" {
				return nil
			}
			return writeManifest(ctx, b.mustNode(name), file, original)
		},
	}
}

// load imports a component's image of the newer version on a node.
func (b *bed) load(ctx context.Context, name, component string) error {
	release, err := b.Release(ctx, newer)
	if err != nil {
		return err
	}
	for _, archive := range release.Images {
		if strings.Contains(filepath.Base(archive), component) {
			return b.mustNode(name).LoadImage(ctx, archive)
		}
	}
	return fmt.Errorf("%s has no image of %s", newer, component)
}

// writeManifest replaces a manifest atomically: the kubelet must not read a partial one.
func writeManifest(ctx context.Context, n *cluster.Node, file, text string) error {
	if _, err := n.ExecInput(ctx, strings.NewReader(text), "dd", "status=none", "of=/etc/kubernetes/changed"); err != nil {
		return err
	}
	_, err := n.Exec(ctx, "mv", "/etc/kubernetes/changed", file)
	return err
}

// afterSeed is not a fault of its own: it waits until the faults before it have taken effect.
func afterSeed(what string, look func(context.Context, *bed) error) fault {
	return fault{
		seed: func(ctx context.Context, b *bed) error {
			return until(ctx, what, func(ctx context.Context) error { return look(ctx, b) })
		},
		restore: func(context.Context, *bed) error { return nil },
	}
}

// afterRestore waits until the faults after it are restored.
func afterRestore(what string, look func(context.Context, *bed) error) fault {
	waits := afterSeed(what, look)
	return fault{seed: waits.restore, restore: waits.seed}
}

// direct returns a client for the API server of one node that bypasses the load balancer.
func (b *bed) direct(name string) (kubernetes.Interface, error) {
	config, err := b.RESTConfig()
	if err != nil {
		return nil, err
	}
	config.Host = fmt.Sprintf("https://%s:6443", b.mustNode(name).Address())
	return kubernetes.NewForConfig(config)
}

// serves waits until a node's API server has a version and is ready.
func serves(name, version string) func(context.Context, *bed) error {
	return func(ctx context.Context, b *bed) error {
		client, err := b.direct(name)
		if err != nil {
			return err
		}
		said, err := client.Discovery().ServerVersion()
		if err != nil {
			return err
		}
		if said.GitVersion != version {
			return fmt.Errorf("the API server of %s is at %s", name, said.GitVersion)
		}
		return client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	}
}

// asks requests a path of a node's API server.
func asks(name, path string) func(context.Context, *bed) error {
	return func(ctx context.Context, b *bed) error {
		client, err := b.direct(name)
		if err != nil {
			return err
		}
		return client.Discovery().RESTClient().Get().AbsPath(path).Do(ctx).Error()
	}
}

// refuses waits until a node's API server does not serve a path.
func refuses(name, path string) func(context.Context, *bed) error {
	return func(ctx context.Context, b *bed) error {
		err := asks(name, path)(ctx, b)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(errors.New("it still answers"), err)
	}
}
