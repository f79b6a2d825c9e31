//go:build apiserver

package helm

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/test/apiserver"
)

// installed returns a lane with the old version of the made chart.
func installed(t *testing.T, s *apiserver.Server) *lane {
	t.Helper()
	l := newLane(t, s, made(t, 1), made(t, 2))
	must(t, l.client(&apiserver.Killer{}).Install(bounded(t), l.mark("install"), l.old))
	return l
}

// extended returns a version of the made chart with one more template.
func extended(t *testing.T, version, name string) *helm.Chart {
	t.Helper()
	return packed(t, extendedContent(t, version, name))
}

func extendedContent(t *testing.T, version, name string) *chartv2.Chart {
	t.Helper()
	content, err := loader.LoadDir(filepath.Join("testdata", "made-"+version))
	must(t, err)
	template, err := os.ReadFile(filepath.Join("testdata", name))
	must(t, err)
	content.Templates = append(content.Templates, &common.File{Name: "templates/" + name, Data: template})
	return content
}

func TestAPendingReleaseOfAnotherProgram(t *testing.T) {
	t.Parallel()
	l := installed(t, apiserver.Shared(t, apiserver.Options{}))
	k := &apiserver.Killer{At: 2}
	if err := l.bareUpgrade(k.Config(l.config)); !k.Dead() {
		t.Fatalf("Helm was not killed: %v", err)
	}
	before, err := l.client(&apiserver.Killer{}).Newest(bounded(t))
	must(t, err)
	counted := &apiserver.Killer{}
	var pending *helm.PendingError
	if _, err := l.client(counted).Adopt(bounded(t), l.mark("adopt")); !errors.As(err, &pending) || pending.Status != "pending-upgrade" {
		t.Errorf("Adopt() = %v", err)
	}
	if _, _, err := l.client(counted).Unlock(bounded(t)); !errors.As(err, &pending) {
		t.Errorf("Unlock() = %v", err)
	}
	after, err := l.client(&apiserver.Killer{}).Newest(bounded(t))
	must(t, err)
	if counted.Writes() != 0 || after.Status != before.Status || after.Revision != before.Revision {
		t.Errorf("%d writes; the record is %s, was %s", counted.Writes(), after.Status, before.Status)
	}
}

func TestAnAbandonedOperationIsUnlockedOnRequest(t *testing.T) {
	t.Parallel()
	l := installed(t, apiserver.Shared(t, apiserver.Options{}))
	steps := l.upgrade()
	l.run(steps[:1], &apiserver.Killer{})
	k := &apiserver.Killer{At: 2}
	if err := steps[1].run(bounded(t), l.client(k)); !k.Dead() {
		t.Fatalf("the wave was not killed: %v", err)
	}
	rollback := l.rollback()
	var pending *helm.PendingError
	err := rollback[0].run(bounded(t), l.client(&apiserver.Killer{}))
	if !errors.As(err, &pending) {
		t.Fatalf("a rollback during an open wave returned %v", err)
	}
	if mark, ours := pending.Mark(); !ours || mark.Step != "wave-1" {
		t.Errorf("the pending mark is %v", mark)
	}
	if mark, unlocked, err := l.client(&apiserver.Killer{}).Unlock(bounded(t)); err != nil || !unlocked || mark.Step != "wave-1" {
		t.Errorf("Unlock() = %v, %v, %v", mark, unlocked, err)
	}
	l.run(rollback, &apiserver.Killer{})
}

// TestAnAdoptionThatFails: the release stays that of its former owner, although Helm supersedes its
// revision.
func TestAnAdoptionThatFails(t *testing.T) {
	t.Parallel()
	l := installed(t, apiserver.Shared(t, apiserver.Options{}))
	before, err := l.client(&apiserver.Killer{}).Deployed(bounded(t))
	must(t, err)
	at := slices.IndexFunc(before.Objects, func(o helm.Object) bool { return o.Kind == "ConfigMap" })
	config := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": before.Objects[at].Name}, "data": map[string]any{},
	}}
	data, _, err := unstructured.NestedStringMap(before.Objects[at].Content.Object, "data")
	must(t, err)
	for key := range data {
		must(t, unstructured.SetNestedField(config.Object, "of another manager", "data", key))
	}
	client, err := dynamic.NewForConfig(l.config)
	must(t, err)
	maps := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(l.release.Namespace)
	_, err = maps.Apply(t.Context(), config.GetName(), config, metav1.ApplyOptions{FieldManager: "other", Force: true})
	must(t, err)
	for range 2 {
		if _, err := l.client(&apiserver.Killer{}).Adopt(bounded(t), l.mark("adopt")); !apierrors.IsConflict(err) {
			t.Fatalf("Adopt() = %v", err)
		}
		after, err := l.client(&apiserver.Killer{}).Deployed(bounded(t))
		must(t, err)
		if after.Revision != before.Revision || after.Status != "deployed" || after.Description != before.Description {
			t.Errorf("revision %d is %s: %s", after.Revision, after.Status, after.Description)
		}
	}
}

func TestUnapprovedDeletions(t *testing.T) {
	t.Parallel()
	l := installed(t, apiserver.Shared(t, apiserver.Options{}))
	l.run(l.upgrade()[:1], &apiserver.Killer{})
	u, counted := l.to, &apiserver.Killer{}
	u.From = l.saved
	var deletion *helm.DeletionError
	err := l.client(counted).Wave(bounded(t), l.mark("wave-2"), u, helm.Wave{Last: true})
	if !errors.As(err, &deletion) || len(deletion.Objects) != 1 || !strings.HasSuffix(deletion.Objects[0].Name, "-only-1") {
		t.Errorf("Wave() = %v", err)
	}
	if counted.Writes() != 0 {
		t.Errorf("%d writes", counted.Writes())
	}
}

func TestSweepLeavesWhatIsNotOfTheReleaseOrNotApproved(t *testing.T) {
	t.Parallel()
	l := installed(t, apiserver.Shared(t, apiserver.Options{}))
	l.run(l.upgrade(), &apiserver.Killer{})
	admin, err := kubernetes.NewForConfig(l.config)
	must(t, err)
	left := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: l.release.Name + "-only-1"}}
	_, err = admin.CoreV1().ConfigMaps(l.release.Namespace).Create(t.Context(), left, metav1.CreateOptions{})
	must(t, err)
	if swept, err := l.client(&apiserver.Killer{}).Sweep(bounded(t), l.removed()); err != nil || len(swept.Deleted)+len(swept.Orphans) != 0 {
		t.Errorf("not of the release: %+v, %v", swept, err)
	}
	left.Labels = map[string]string{"app.kubernetes.io/managed-by": "Helm"}
	left.Annotations = map[string]string{"meta.helm.sh/release-name": l.release.Name, "meta.helm.sh/release-namespace": l.release.Namespace}
	_, err = admin.CoreV1().ConfigMaps(l.release.Namespace).Update(t.Context(), left, metav1.UpdateOptions{})
	must(t, err)
	if swept, err := l.client(&apiserver.Killer{}).Sweep(bounded(t), nil); err != nil || len(swept.Deleted) != 0 || len(swept.Orphans) != 1 {
		t.Errorf("not approved: %+v, %v", swept, err)
	}
	if swept, err := l.client(&apiserver.Killer{}).Sweep(bounded(t), l.removed()); err != nil || len(swept.Deleted) != 1 {
		t.Errorf("approved: %+v, %v", swept, err)
	}
}

func TestARecordThatExceedsASecret(t *testing.T) {
	t.Parallel()
	l := installed(t, apiserver.Shared(t, apiserver.Options{}))
	l.run(l.upgrade()[:1], &apiserver.Killer{})
	noise := make([]byte, 1<<20)
	_, err := rand.Read(noise)
	must(t, err)
	u, counted := l.to, &apiserver.Killer{}
	u.From, u.Values = l.saved, map[string]any{"greeting": base64.StdEncoding.EncodeToString(noise)}
	err = l.client(counted).Wave(bounded(t), l.mark("wave-1"), u, helm.Wave{Includes: l.first})
	if !errors.Is(err, helm.ErrRecordTooLarge) || counted.Writes() != 0 {
		t.Errorf("Wave() = %v, with %d writes", err, counted.Writes())
	}
	size, err := helm.RecordSize(u.Chart, u.Values, l.release, u.Rendering, nil)
	if err != nil || size <= helm.MaxRecord {
		t.Errorf("RecordSize() = %d, %v", size, err)
	}
}

// TestAHookThatHangs uses a Job, which nothing runs here.
func TestAHookThatHangs(t *testing.T) {
	t.Parallel()
	s := apiserver.Shared(t, apiserver.Options{})
	l := newLane(t, s, made(t, 1), extended(t, "2", "hanging.yaml"))
	must(t, l.client(&apiserver.Killer{}).Install(bounded(t), l.mark("install"), l.old))
	l.to.HookTimeout = 2 * time.Second
	steps := l.upgrade()
	l.run(steps[:2], &apiserver.Killer{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := steps[2].run(ctx, l.client(&apiserver.Killer{})); err == nil || ctx.Err() != nil {
		t.Fatalf("the wave returned %v", err)
	}
	record, err := l.client(&apiserver.Killer{}).Newest(bounded(t))
	must(t, err)
	if mark, ours := record.Mark(); record.Status != "failed" || !ours || mark.Step != "wave-2" || !strings.Contains(record.Description, "hook") {
		t.Errorf("the record is %s: %s", record.Status, record.Description)
	}
	l.run(l.rollback(), &apiserver.Killer{})
}
