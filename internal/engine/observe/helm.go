package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

const (
	// helmPerPage is small because a stored release may have a megabyte.
	helmPerPage = 25
	// helmPages and helmGets limit the requests; the rest is a Gap.
	helmPages, helmGets = 60, 20
	// failedPerPage is for metadata only.
	failedPerPage = 500

	helmType    = "type=helm.sh/release.v1"
	helmDataKey = "release"

	// The labels of Helm. A release has one object per revision.
	helmCurrent = "owner=helm,status in (deployed,pending-install,pending-upgrade,pending-rollback)"
	helmFailed  = "owner=helm,status=failed"
)

var errTooManyReleases = fmt.Errorf("only the first %d stored releases are read, to limit the load on the API server", helmPages*helmPerPage)

// helmReleases collects the releases.
type helmReleases struct {
	obs   *observation
	found map[owner]*cluster.Helm // by namespace and name
}

// readHelm reads the objects of Helm releases: of the deployed revision, of pending ones, and of
// the last failed one if none was ever deployed. Helm compares with these at the next upgrade.
func (obs *observation) readHelm(ctx context.Context) error {
	h := &helmReleases{obs: obs, found: map[owner]*cluster.Helm{}}
	err := h.readSecrets(ctx)
	// Releases in ConfigMaps are rare: Helm stores them there only if configured.
	if failed := h.readConfigMaps(ctx); failed != nil {
		obs.addGap(cluster.PartHelm, "releases in ConfigMaps", failed)
	}
	for _, key := range slices.SortedFunc(maps.Keys(h.found), func(a, b owner) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
	}) {
		obs.snapshot.Helm = append(obs.snapshot.Helm, *h.found[key])
	}
	return err
}

func (h *helmReleases) readSecrets(ctx context.Context) error {
	read := 0
	client := h.obs.client.CoreV1()
	options := metav1.ListOptions{Limit: helmPerPage, LabelSelector: helmCurrent, FieldSelector: helmType}
	err := pages(ctx, listAll("secrets"), options, client.Secrets(metav1.NamespaceAll).List, func(page *corev1.SecretList) error {
		for i := range page.Items {
			h.add(&page.Items[i].ObjectMeta, page.Items[i].Data[helmDataKey])
		}
		if read++; read == helmPages && page.Continue != "" {
			return errTooManyReleases
		}
		return nil
	})
	if errors.Is(err, errTooManyReleases) {
		h.obs.addGap(cluster.PartHelm, "releases beyond the first", err)
		err = nil
	}
	if err != nil {
		return err
	}
	return h.readFailed(ctx)
}

// readFailed reads the releases of which every revision failed. Failed revisions are common, so it
// lists only their metadata.
func (h *helmReleases) readFailed(ctx context.Context) error {
	last := map[owner]metav1.ObjectMeta{}
	secrets := rawLister[metav1.PartialObjectMetadata](h.obs.raw, "/api/v1/secrets", onlyMetadata)
	options := metav1.ListOptions{Limit: failedPerPage, LabelSelector: helmFailed, FieldSelector: helmType}
	err := pages(ctx, listAll("secrets"), options, secrets, func(page *rawPage[metav1.PartialObjectMetadata]) error {
		for i := range page.Items {
			meta := page.Items[i].ObjectMeta
			key := helmKey(&meta)
			if h.found[key] == nil && revisionOf(&meta) >= revisionOf(new(last[key])) {
				last[key] = meta
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	gets := 0
	for _, meta := range last {
		if gets++; gets > helmGets {
			h.obs.addGap(cluster.PartHelm, "releases that failed", errTooManyReleases)
			return nil
		}
		secret, err := h.obs.client.CoreV1().Secrets(meta.Namespace).Get(ctx, meta.Name, metav1.GetOptions{})
		if err != nil {
			h.obs.addGap(cluster.PartHelm, helmName(&meta), requestFailed(getIn("secret", meta.Namespace, meta.Name), err))
			continue
		}
		h.add(&secret.ObjectMeta, secret.Data[helmDataKey])
	}
	return nil
}

func (h *helmReleases) readConfigMaps(ctx context.Context) error {
	read := 0
	maps := h.obs.client.CoreV1().ConfigMaps(metav1.NamespaceAll)
	options := metav1.ListOptions{Limit: helmPerPage, LabelSelector: helmCurrent}
	return pages(ctx, listAll("configmaps"), options, maps.List, func(page *corev1.ConfigMapList) error {
		for i := range page.Items {
			h.add(&page.Items[i].ObjectMeta, []byte(page.Items[i].Data[helmDataKey]))
		}
		if read++; read == helmPages && page.Continue != "" {
			return errTooManyReleases
		}
		return nil
	})
}

// add adds a stored revision to its release.
func (h *helmReleases) add(meta *metav1.ObjectMeta, data []byte) {
	key, revision := helmKey(meta), revisionOf(meta)
	release := h.found[key]
	if release == nil {
		release = &cluster.Helm{Namespace: key.namespace, Name: key.name}
		h.found[key] = release
	}
	stored, err := decodeRelease(data)
	if err != nil {
		h.obs.addGap(cluster.PartHelm, helmName(meta), err)
	}
	if revision >= release.Revision {
		release.Revision, release.Status = revision, meta.Labels["status"]
		release.Chart = cmp.Or(stored.chart, release.Chart)
	}
	for _, object := range stored.objects {
		if !slices.Contains(release.Objects, object) {
			release.Objects = append(release.Objects, object)
		}
	}
}

func helmKey(meta *metav1.ObjectMeta) owner {
	return owner{namespace: meta.Namespace, name: meta.Labels["name"]}
}

func helmName(meta *metav1.ObjectMeta) string {
	return "Helm release " + meta.Namespace + "/" + meta.Labels["name"]
}

func revisionOf(meta *metav1.ObjectMeta) int {
	revision, err := strconv.Atoi(meta.Labels["version"])
	if err != nil {
		return 0
	}
	return revision
}
