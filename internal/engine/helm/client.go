package helm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/kube"
	rcommon "helm.sh/helm/v4/pkg/release/common"
	release "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage"
	"helm.sh/helm/v4/pkg/storage/driver"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Helm derives the field manager from the name of the binary; with another one, users could not
// continue with Helm's CLI without conflicts.
func init() { kube.ManagedFieldsManager = "helm" }

// settleTimeout bounds the last write of an action whose context has ended.
const settleTimeout = 10 * time.Second

// A Client changes one release. Its methods must not run concurrently.
type Client struct {
	lease   context.Context
	config  *rest.Config
	release Release
	log     slog.Handler
}

// New returns a client for a release. Its requests fail with ErrLeaseLost after the lease has
// ended. Helm also logs to slog's default logger, which the process sets.
func New(lease context.Context, config *rest.Config, r Release, log slog.Handler) *Client {
	return &Client{lease: lease, config: config, release: r, log: log}
}

// A session has the clients of one action. They are new for each action: CRDs change in between,
// and the requests of an action end with its context.
type session struct {
	Release
	ctx     context.Context
	getter  *getter
	dynamic dynamic.Interface
	secrets *boundedSecrets
	others  corev1client.ConfigMapInterface // where Helm can store records, too
	driver  *markingDriver
	store   *storage.Storage
	config  *action.Configuration
	kube    *kubeClient
}

// open creates the clients of an action. With a mark, all records that the action creates carry it.
func (c *Client) open(ctx context.Context, mark Mark) (*session, error) {
	s := &session{Release: c.release, ctx: ctx}
	config := fenced(c.lease, ctx, c.config)
	var err error
	if s.getter, err = newGetter(config, c.release.Namespace); err != nil {
		return nil, fmt.Errorf("cannot create clients: %w", err)
	}
	if s.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("cannot create clients: %w", err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("cannot create clients: %w", err)
	}
	s.secrets = &boundedSecrets{SecretInterface: client.CoreV1().Secrets(c.release.Namespace)}
	s.others = client.CoreV1().ConfigMaps(c.release.Namespace)
	secrets := driver.NewSecrets(s.secrets)
	secrets.SetLogger(c.log)
	s.driver = &markingDriver{Driver: secrets, mark: mark}
	s.store = storage.Init(s.driver)
	s.store.SetLogger(c.log)
	s.config = action.NewConfiguration(action.ConfigurationSetLogger(c.log))
	helm := kube.New(s.getter)
	helm.Namespace = c.release.Namespace
	helm.SetLogger(c.log)
	s.kube = &kubeClient{Client: helm, action: ctx}
	s.config.KubeClient, s.config.Releases = s.kube, s.store
	s.config.HookOutputFunc = func(_, _, _ string) io.Writer { return io.Discard }
	return s, nil
}

// begin opens a session for a marked action and reads the record. It reports whether the action is
// complete, and unlocks what a former attempt left.
func (c *Client) begin(ctx context.Context, mark Mark) (s *session, history []*release.Release, complete bool, err error) {
	if err := mark.validate(); err != nil {
		return nil, nil, false, err
	}
	if s, err = c.open(ctx, mark); err != nil {
		return nil, nil, false, err
	}
	history, complete, err = s.begin(mark)
	if err != nil {
		return nil, nil, false, err
	}
	return s, history, complete, nil
}

func (s *session) begin(mark Mark) (history []*release.Release, complete bool, err error) {
	if history, err = s.history(); err != nil {
		return nil, false, err
	}
	s.driver.next = 1
	if len(history) == 0 {
		return nil, false, nil
	}
	last := history[len(history)-1]
	s.driver.next = last.Version + 1
	found, ours := parseMark(last.Info.Description)
	switch status := last.Info.Status; {
	case status.IsPending() && ours && found == mark:
		if err = s.retry(last); err == nil {
			history, err = s.dropFailed(history, mark)
		}
		return history, false, err
	case status.IsPending() && ours && found.Operation == mark.Operation && found.Sequence == mark.Sequence:
		return history, false, s.unlock(last) // that step has ended: this one rolls it back
	case status.IsPending() || status == rcommon.StatusUninstalling:
		return nil, false, pendingError(last)
	case status == rcommon.StatusUninstalled:
		return nil, false, nil
	case status == rcommon.StatusFailed && ours && found == mark:
		if err = s.deleteLeftHooks(last); err == nil {
			history, err = s.dropFailed(history, mark)
		}
		return history, false, err
	default:
		return history, status == rcommon.StatusDeployed && last.Info.Description == mark.String(), nil
	}
}

// dropFailed deletes the failed revisions of an action before the newest one, so that a record does
// not grow with each repetition. One with an object or a hook that the newest one does not have
// stays, because a sweep finds what to delete in revisions. Helm supersedes the failed revision of
// a rollback when that fails again.
func (s *session) dropFailed(history []*release.Release, mark Mark) ([]*release.Release, error) {
	last := history[len(history)-1]
	has, err := allRefs(last)
	if err != nil {
		return nil, err
	}
	kept := make([]*release.Release, 0, len(history))
	for _, r := range history {
		found, ours := parseMark(r.Info.Description)
		failed := r.Info.Status == rcommon.StatusFailed || r.Info.Status == rcommon.StatusSuperseded && r.Info.Description != mark.String()
		if r == last || !failed || !ours || found != mark {
			kept = append(kept, r)
			continue
		}
		refs, err := allRefs(r)
		if err != nil {
			return nil, err
		}
		maps.DeleteFunc(refs, func(ref Ref, _ bool) bool { return has[ref] })
		if len(refs) > 0 {
			kept = append(kept, r)
			continue
		}
		if _, err := s.store.Delete(s.Name, r.Version); err != nil {
			return nil, fmt.Errorf("cannot delete revision %d: %w", r.Version, err)
		}
	}
	return kept, nil
}

// allRefs returns the objects and hooks of a revision.
func allRefs(r *release.Release) (map[Ref]bool, error) {
	objects, hooks, err := contentOf(r)
	return refsOf(slices.Concat(objects, hooks)), err
}

// retry prepares the repetition of an action that was killed. Server-side apply accepts its hooks,
// which may still run.
func (s *session) retry(pending *release.Release) error {
	if err := s.unlock(pending); err != nil {
		return err
	}
	if pending.ApplyMethod == string(release.ApplyMethodServerSideApply) {
		return nil
	}
	return s.deleteLeftHooks(pending)
}

// settle changes the revision of a failed action to failed: Helm leaves it pending after some
// errors of a rollback, and after the end of the context, and refuses the release from then on. It
// returns the error of the action.
func (c *Client) settle(s *session, cause error) error {
	key := s.driver.created
	if key == "" {
		return cause
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), settleTimeout)
	defer cancel()
	last, err := c.open(ctx, s.driver.mark)
	if err != nil {
		return cause
	}
	record, err := last.driver.Get(key)
	if err != nil {
		return cause // the next attempt unlocks it
	}
	r, ok := record.(*release.Release)
	if !ok || !r.Info.Status.IsPending() {
		return cause
	}
	r.Info.Status, r.Info.Description = rcommon.StatusFailed, cause.Error()
	last.driver.created = key
	if err := last.store.Update(r); err != nil {
		return fmt.Errorf("%w; cannot unlock revision %d: %w", cause, r.Version, err)
	}
	return cause
}

// failed returns the error of an action. Not all errors of Helm have the error of the request that
// failed.
func (c *Client) failed(verb string, err error) error {
	if lost := leaseLost(c.lease); lost != nil && !errors.Is(err, lost) {
		err = fmt.Errorf("%w: %w", lost, err)
	}
	return fmt.Errorf("cannot %s the release: %w", verb, err)
}

// A getter gives Helm clients that have the transport of the action.
type getter struct {
	config    *rest.Config
	namespace string
	discovery discovery.CachedDiscoveryInterface
	mapper    meta.ResettableRESTMapper
}

func newGetter(config *rest.Config, namespace string) (*getter, error) {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	cached := memory.NewMemCacheClient(client)
	return &getter{config: config, namespace: namespace, discovery: cached, mapper: restmapper.NewDeferredDiscoveryRESTMapper(cached)}, nil
}

func (g *getter) ToRESTConfig() (*rest.Config, error) { return rest.CopyConfig(g.config), nil }

func (g *getter) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	return g.discovery, nil
}

func (g *getter) ToRESTMapper() (meta.RESTMapper, error) { return g.mapper, nil }

func (g *getter) ToRawKubeConfigLoader() clientcmd.ClientConfig {
	overrides := &clientcmd.ConfigOverrides{Context: clientcmdapi.Context{Namespace: g.namespace}}
	return clientcmd.NewDefaultClientConfig(*clientcmdapi.NewConfig(), overrides)
}
