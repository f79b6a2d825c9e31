//go:build apiserver

package helm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/kube"
	rcommon "helm.sh/helm/v4/pkg/release/common"
	release "helm.sh/helm/v4/pkg/release/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/test/apiserver"
)

// with returns a version of the made chart with one more template.
func with(t *testing.T, version, template string) *chartv2.Chart {
	t.Helper()
	content := extendedContent(t, version, "crd.yaml")
	content.Templates[len(content.Templates)-1] = &common.File{Name: "templates/more.yaml", Data: []byte(template)}
	return content
}

// laneOf returns a lane with a release that Helm alone has installed.
func laneOf(t *testing.T, old, to *chartv2.Chart) *lane {
	t.Helper()
	l := newLane(t, apiserver.Shared(t, apiserver.Options{}), packed(t, old), packed(t, to))
	bareInstall(t, l.config, l.release.Namespace, l.release.Name, old, true)
	return l
}

func (l *lane) admin() kubernetes.Interface {
	l.t.Helper()
	client, err := kubernetes.NewForConfig(l.config)
	must(l.t, err)
	return client
}

// edit changes the newest record as another client of Helm would.
func (l *lane) edit(change func(*release.Release)) {
	l.t.Helper()
	records := bareConfig(l.t, l.config, l.release.Namespace).Releases
	last, err := records.Last(l.release.Name)
	must(l.t, err)
	changed, ok := last.(*release.Release)
	if !ok {
		l.t.Fatalf("the record is a %T", last)
	}
	change(changed)
	must(l.t, records.Update(changed))
}

// TestAClusterRoleWithANamespace has a namespace on an object that has none, in one of two
// versions. Compared by namespace, it is deleted and created.
func TestAClusterRoleWithANamespace(t *testing.T) {
	t.Parallel()
	const role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: \"{{ .Release.Name }}-role\"NAMESPACE}\n"
	versions := map[string]string{
		"none": "", "that of the release": `, namespace: "{{ .Release.Namespace }}"`, "another": ", namespace: kube-system",
	}
	short := map[string]string{"none": "another", "another": "that of the release", "that of the release": "none"}
	for before, old := range versions {
		for after, to := range versions {
			if !isFull() && short[before] != after {
				continue
			}
			t.Run(before+" to "+after, func(t *testing.T) {
				t.Parallel()
				l := laneOf(t, with(t, "1", strings.Replace(role, "NAMESPACE", old, 1)), with(t, "2", strings.Replace(role, "NAMESPACE", to, 1)))
				get := func() string {
					found, err := l.admin().RbacV1().ClusterRoles().Get(t.Context(), l.release.Name+"-role", metav1.GetOptions{})
					must(t, err)
					return string(found.UID)
				}
				created := get()
				l.run(l.upgrade(), &apiserver.Killer{})
				if get() != created {
					t.Error("the upgrade created it again")
				}
				l.run(l.rollback(), &apiserver.Killer{})
				if get() != created {
					t.Error("the rollback created it again")
				}
			})
		}
	}
}

func TestAReleaseThatWasUninstalled(t *testing.T) {
	t.Parallel()
	l := installed(t, apiserver.Shared(t, apiserver.Options{}))
	uninstall := action.NewUninstall(bareConfig(t, l.config, l.release.Namespace))
	uninstall.KeepHistory, uninstall.WaitStrategy, uninstall.Timeout = true, kube.HookOnlyStrategy, hookTimeout
	_, err := uninstall.Run(l.release.Name)
	must(t, err)
	counted := &apiserver.Killer{}
	if _, err := l.client(counted).Adopt(bounded(t), l.mark("adopt")); !errors.Is(err, helm.ErrNoRelease) || counted.Writes() != 0 {
		t.Errorf("Adopt() = %v, with %d writes", err, counted.Writes())
	}
	if _, err := l.client(counted).Deployed(bounded(t)); !errors.Is(err, helm.ErrNoRelease) {
		t.Errorf("Deployed() = %v", err)
	}
	must(t, l.client(&apiserver.Killer{}).Install(bounded(t), l.mark("install-2"), l.old))
	l.run(l.upgrade(), &apiserver.Killer{})
}

func TestAReleaseThatIsBeingUninstalled(t *testing.T) {
	t.Parallel()
	l := installed(t, apiserver.Shared(t, apiserver.Options{}))
	l.edit(func(r *release.Release) { r.Info.Status = rcommon.StatusUninstalling })
	counted := &apiserver.Killer{}
	var pending *helm.PendingError
	if _, err := l.client(counted).Adopt(bounded(t), l.mark("adopt")); !errors.As(err, &pending) || counted.Writes() != 0 {
		t.Errorf("Adopt() = %v, with %d writes", err, counted.Writes())
	}
	if err := l.client(counted).Install(bounded(t), l.mark("install-2"), l.old); !errors.As(err, &pending) || counted.Writes() != 0 {
		t.Errorf("Install() = %v, with %d writes", err, counted.Writes())
	}
}

// TestAnInstallationOverADeployedRelease has an upgrade of the user that failed as its newest
// revision.
func TestAnInstallationOverADeployedRelease(t *testing.T) {
	t.Parallel()
	l := installed(t, apiserver.Shared(t, apiserver.Options{}))
	must(t, l.bareUpgrade(l.config))
	l.edit(func(r *release.Release) { r.Info.Status = rcommon.StatusFailed })
	records := bareConfig(t, l.config, l.release.Namespace).Releases
	first, err := records.Get(l.release.Name, 1)
	must(t, err)
	first.(*release.Release).Info.Status = rcommon.StatusDeployed
	must(t, records.Update(first))
	counted := &apiserver.Killer{}
	if err := l.client(counted).Install(bounded(t), l.mark("install-2"), l.old); err == nil || counted.Writes() != 0 {
		t.Errorf("Install() = %v, with %d writes", err, counted.Writes())
	}
}

// TestAKindThatIsGone has an object in the record whose kind the cluster no longer serves. Helm
// returns an error and leaves a pending revision.
func TestAKindThatIsGone(t *testing.T) {
	t.Parallel()
	l := installed(t, apiserver.Shared(t, apiserver.Options{}))
	l.edit(func(r *release.Release) {
		r.Manifest += "---\napiVersion: example.test/v1\nkind: Gone\nmetadata: {name: a}\n"
	})
	if _, err := l.client(&apiserver.Killer{}).Adopt(bounded(t), l.mark("adopt")); err == nil {
		t.Error("Adopt() returned no error")
	}
	record, err := l.client(&apiserver.Killer{}).Newest(bounded(t))
	must(t, err)
	if mark, ours := record.Mark(); record.Status != "failed" || !ours || mark.Step != "adopt" || !strings.Contains(record.Description, "Gone") {
		t.Errorf("the record is %s: %s", record.Status, record.Description)
	}
}

const rollbackHook = `apiVersion: batch/v1
kind: Job
metadata: {name: "{{ .Release.Name }}-hook", annotations: {helm.sh/hook: "pre-rollback,pre-upgrade", helm.sh/hook-delete-policy: hook-succeeded}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: registry.test/a:1}]}}}
`

// TestAHookOfARollbackThatHangs uses a Job, which nothing runs here.
func TestAHookOfARollbackThatHangs(t *testing.T) {
	t.Parallel()
	l := laneOf(t, with(t, "1", rollbackHook), made2(t))
	l.run(l.upgrade(), &apiserver.Killer{})
	mark := l.mark("rollback")
	roll := func() error {
		return l.client(&apiserver.Killer{}).Rollback(bounded(t), mark, l.saved, l.added(), 2*time.Second)
	}
	if err := roll(); err == nil {
		t.Fatal("Rollback() returned no error")
	}
	record, err := l.client(&apiserver.Killer{}).Newest(bounded(t))
	must(t, err)
	if found, ours := record.Mark(); record.Status != "failed" || !ours || found != mark {
		t.Errorf("the record is %s: %s", record.Status, record.Description)
	}
	job := func() string {
		found, err := l.admin().BatchV1().Jobs(l.release.Namespace).Get(t.Context(), l.release.Name+"-hook", metav1.GetOptions{})
		must(t, err)
		return string(found.UID)
	}
	first := job()
	if err := roll(); err == nil {
		t.Fatal("Rollback() returned no error")
	}
	if job() == first {
		t.Error("the second attempt found the Job of the first one")
	}
}

func made2(t *testing.T) *chartv2.Chart {
	t.Helper()
	return with(t, "2", "")
}

func TestAReleaseInConfigMaps(t *testing.T) {
	t.Parallel()
	l := newLane(t, apiserver.Shared(t, apiserver.Options{}), made(t, 1), made(t, 2))
	config := bareConfig(t, l.config, l.release.Namespace)
	must(t, config.Init(bareGetter{l.config, l.release.Namespace}, l.release.Namespace, "configmap"))
	config.KubeClient.(*kube.Client).Namespace = l.release.Namespace
	install := action.NewInstall(config)
	install.ReleaseName, install.Namespace, install.WaitStrategy = l.release.Name, l.release.Namespace, kube.HookOnlyStrategy
	_, err := install.Run(with(t, "1", ""), nil)
	must(t, err)
	counted := &apiserver.Killer{}
	if _, err := l.client(counted).Deployed(bounded(t)); !errors.Is(err, helm.ErrOtherStorage) {
		t.Errorf("Deployed() = %v", err)
	}
	if err := l.client(counted).Install(bounded(t), l.mark("install"), l.old); !errors.Is(err, helm.ErrOtherStorage) || counted.Writes() != 0 {
		t.Errorf("Install() = %v, with %d writes", err, counted.Writes())
	}
}

// TestARevisionThatCannotBeDecoded has a broken record. Helm alone skips it.
func TestARevisionThatCannotBeDecoded(t *testing.T) {
	t.Parallel()
	l := installed(t, apiserver.Shared(t, apiserver.Options{}))
	secrets := l.admin().CoreV1().Secrets(l.release.Namespace)
	record, err := secrets.Get(t.Context(), "sh.helm.release.v1."+l.release.Name+".v1", metav1.GetOptions{})
	must(t, err)
	record.Data["release"] = []byte("broken")
	_, err = secrets.Update(t.Context(), record, metav1.UpdateOptions{})
	must(t, err)
	counted := &apiserver.Killer{}
	if err := l.client(counted).Install(bounded(t), l.mark("install-2"), l.old); err == nil || !strings.Contains(err.Error(), "cannot be decoded") || counted.Writes() != 0 {
		t.Errorf("Install() = %v, with %d writes", err, counted.Writes())
	}
}

// TestAnObjectThatMovedToAnotherRelease has an approved deletion of an object that another release
// has taken over since.
func TestAnObjectThatMovedToAnotherRelease(t *testing.T) {
	t.Parallel()
	l := installed(t, apiserver.Shared(t, apiserver.Options{}))
	steps := l.upgrade()
	l.run(steps[:2], &apiserver.Killer{})
	settings := l.admin().CoreV1().ConfigMaps(l.release.Namespace)
	moved, err := settings.Get(t.Context(), l.release.Name+"-only-1", metav1.GetOptions{})
	must(t, err)
	moved.Annotations["meta.helm.sh/release-name"] = "other"
	_, err = settings.Update(t.Context(), moved, metav1.UpdateOptions{})
	must(t, err)
	counted := &apiserver.Killer{}
	var deletion *helm.DeletionError
	if err := steps[2].run(bounded(t), l.client(counted)); !errors.As(err, &deletion) || counted.Writes() != 0 {
		t.Errorf("Wave() = %v, with %d writes", err, counted.Writes())
	}
}

// TestAFieldThatAnotherClientOwns changes a field with another field manager. Before the upgrade,
// the adoption reports it and changes nothing; during the upgrade, it does not block the rollback.
func TestAFieldThatAnotherClientOwns(t *testing.T) {
	t.Parallel()
	l := installed(t, apiserver.Shared(t, apiserver.Options{}))
	settings := l.admin().CoreV1().ConfigMaps(l.release.Namespace)
	name := l.release.Name + "-settings"
	own := func(value string) {
		found, err := settings.Get(t.Context(), name, metav1.GetOptions{})
		must(t, err)
		for key := range found.Data {
			found.Data[key] = value
		}
		_, err = settings.Update(t.Context(), found, metav1.UpdateOptions{FieldManager: "kubectl-edit"})
		must(t, err)
	}
	before := l.outcome().objects
	l.run(l.upgrade(), &apiserver.Killer{})
	own("edited")
	l.run(l.rollback(), &apiserver.Killer{})
	if after := l.outcome().objects; after != before {
		t.Errorf("after the rollback the objects are\n%s\nwant\n%s", after, before)
	}
	own("edited")
	edited := l.outcome().objects
	if _, err := l.client(&apiserver.Killer{}).Adopt(bounded(t), l.mark("adopt-edited")); err == nil || !strings.Contains(err.Error(), "kubectl-edit") {
		t.Errorf("Adopt() = %v", err)
	}
	if after := l.outcome().objects; after != edited {
		t.Errorf("after the adoption the objects are\n%s\nwant\n%s", after, edited)
	}
}

// An interloper is the transport of a process during whose action another client of Helm acts.
type interloper struct {
	next  http.RoundTripper
	lists *atomic.Int32
	act   func()
}

func (i *interloper) RoundTrip(request *http.Request) (*http.Response, error) {
	if strings.HasSuffix(request.URL.Path, "/secrets") && i.lists.Add(1) == 2 {
		i.act()
	}
	return i.next.RoundTrip(request)
}

// TestAnUpgradeOfAnotherClientMeanwhile happens after Refit has read the record, and before Helm
// reads it for the same action.
func TestAnUpgradeOfAnotherClientMeanwhile(t *testing.T) {
	t.Parallel()
	l := installed(t, apiserver.Shared(t, apiserver.Options{}))
	steps := l.upgrade()
	l.run(steps[:2], &apiserver.Killer{})
	counted := &apiserver.Killer{}
	config := counted.Config(l.config)
	var lists atomic.Int32
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &interloper{next, &lists, func() { must(t, l.bareUpgrade(rest.CopyConfig(l.config))) }}
	})
	client := helm.New(t.Context(), config, l.release, discard)
	if err := steps[2].run(bounded(t), client); err == nil || counted.Writes() != 0 {
		t.Errorf("Wave() = %v, with %d writes", err, counted.Writes())
	}
	record, err := l.client(&apiserver.Killer{}).Newest(bounded(t))
	must(t, err)
	if _, ours := record.Mark(); ours || record.Status != "deployed" {
		t.Errorf("the record is %s: %s", record.Status, record.Description)
	}
}

// TestAContextThatEnds cancels an action after some of its writes. The release is not locked, and
// the next attempt completes the action.
func TestAContextThatEnds(t *testing.T) {
	t.Parallel()
	l := installed(t, apiserver.Shared(t, apiserver.Options{}))
	for at := 1; at < 9; at += every(5) {
		steps := l.upgrade()
		l.run(steps[:2], &apiserver.Killer{})
		ctx, cancel := context.WithCancel(bounded(t))
		k := &canceler{at: at, cancel: cancel}
		config := rest.CopyConfig(l.config)
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &cancelingTransport{k, next} })
		if err := steps[2].run(ctx, helm.New(t.Context(), config, l.release, discard)); err == nil {
			t.Errorf("canceled at write %d: Wave() returned no error", at)
		}
		record, err := l.client(&apiserver.Killer{}).Newest(bounded(t))
		must(t, err)
		if mark, ours := record.Mark(); record.Status != "failed" || !ours || mark.Step != "wave-2" {
			t.Errorf("canceled at write %d: the record is %s: %s", at, record.Status, record.Description)
		}
		l.run(steps[2:], &apiserver.Killer{})
		l.run(l.rollback(), &apiserver.Killer{})
	}
}

type canceler struct {
	at     int
	writes atomic.Int32
	cancel context.CancelFunc
}

type cancelingTransport struct {
	*canceler
	next http.RoundTripper
}

func (c *cancelingTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := c.next.RoundTrip(request)
	if request.Method == http.MethodGet || int(c.writes.Add(1)) != c.at || err != nil {
		return response, err
	}
	// The client receives the whole response, also if it reads slowly.
	body, err := io.ReadAll(response.Body)
	response.Body = io.NopCloser(bytes.NewReader(body))
	c.cancel()
	return response, err
}

// TestASlowAPIServerDoesNotFailAnUpgrade has hooks that nothing runs, and no time left for them:
// what Helm itself needs does not count.
func TestASlowAPIServerDoesNotFailAnUpgrade(t *testing.T) {
	t.Parallel()
	l := installed(t, apiserver.Shared(t, apiserver.Options{}))
	l.to.HookTimeout = time.Nanosecond
	l.run(l.upgrade(), &apiserver.Killer{})
}
