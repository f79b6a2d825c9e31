package helm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	ri "helm.sh/helm/v4/pkg/release"
	rcommon "helm.sh/helm/v4/pkg/release/common"
	release "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// MaxRecord is the largest record that fits into a Secret.
const MaxRecord = corev1.MaxSecretSize

// A Record is the newest or the deployed revision of a release, as Helm recorded it.
type Record struct {
	Revision     int
	Status       string // of Helm, such as deployed or pending-upgrade
	Description  string
	Chart        string
	ChartVersion string // the old one until the last wave of an upgrade
	Values       map[string]any
	Objects      []Object
	Hooks        []Object
	CRDs         []Object
}

// Mark returns the mark of the action that wrote the revision, if it is one of Refit.
func (r Record) Mark() (Mark, bool) { return parseMark(r.Description) }

// Deployed returns the deployed revision, or the newest one if none is deployed. A release that was
// uninstalled does not exist, even if its history was kept.
func (c *Client) Deployed(ctx context.Context) (Record, error) {
	found, err := c.record(ctx, current)
	if err == nil && found.Status == rcommon.StatusUninstalled.String() {
		return Record{}, ErrNoRelease
	}
	return found, err
}

// Newest returns the newest revision, which may be pending or failed.
func (c *Client) Newest(ctx context.Context) (Record, error) {
	return c.record(ctx, func(history []*release.Release) *release.Release { return history[len(history)-1] })
}

func (c *Client) record(ctx context.Context, choose func([]*release.Release) *release.Release) (Record, error) {
	s, err := c.open(ctx, Mark{})
	if err != nil {
		return Record{}, err
	}
	history, err := s.history()
	if err != nil {
		return Record{}, err
	}
	if len(history) == 0 {
		return Record{}, ErrNoRelease
	}
	return recordOf(choose(history))
}

func recordOf(r *release.Release) (Record, error) {
	objects, hooks, err := contentOf(r)
	if err != nil {
		return Record{}, err
	}
	found := Record{Revision: r.Version, Status: r.Info.Status.String(), Description: r.Info.Description, Values: r.Config}
	if r.Chart != nil && r.Chart.Metadata != nil {
		found.Chart, found.ChartVersion = r.Chart.Metadata.Name, versionOf(r)
	}
	var more []Object
	found.Objects, found.CRDs = withoutCRDs(objects)
	found.Hooks, more = withoutCRDs(hooks)
	found.CRDs = append(found.CRDs, more...)
	return found, nil
}

// contentOf returns the objects and hooks of a revision, including CRDs.
func contentOf(r *release.Release) (objects, hooks []Object, err error) {
	if objects, err = objectsOf(r.Manifest, "", r.Namespace); err != nil {
		return nil, nil, fmt.Errorf("cannot read revision %d: %w", r.Version, err)
	}
	if hooks, err = hookObjects(r.Hooks, r.Namespace); err != nil {
		return nil, nil, fmt.Errorf("cannot read revision %d: %w", r.Version, err)
	}
	return objects, hooks, nil
}

// history returns the revisions, oldest first.
func (s *session) history() ([]*release.Release, error) {
	found, err := s.store.History(s.Name)
	if errors.Is(err, driver.ErrReleaseNotFound) {
		return nil, s.stored()
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the record of %s: %w", s.Name, err)
	}
	if len(found) != s.secrets.listed {
		return nil, fmt.Errorf("cannot read the record of %s: %d of %d revisions cannot be decoded", s.Name, s.secrets.listed-len(found), s.secrets.listed)
	}
	history := make([]*release.Release, 0, len(found))
	for _, item := range found {
		r, ok := item.(*release.Release)
		if !ok {
			return nil, fmt.Errorf("cannot read the record of %s: unknown type %T", s.Name, item)
		}
		history = append(history, r)
	}
	slices.SortFunc(history, func(a, b *release.Release) int { return a.Version - b.Version })
	return history, nil
}

// stored returns an error if Helm stores the release in ConfigMaps: it exists then, but not for
// Refit.
func (s *session) stored() error {
	selector := labels.SelectorFromSet(labels.Set{"owner": "helm", "name": s.Name}).String()
	found, err := s.others.List(s.ctx, metav1.ListOptions{LabelSelector: selector, Limit: 1})
	if err != nil {
		return fmt.Errorf("cannot list ConfigMaps: %w", err)
	}
	if len(found.Items) > 0 {
		return ErrOtherStorage
	}
	return nil
}

// current returns the revision that Helm compares an upgrade with.
func current(history []*release.Release) *release.Release {
	for _, r := range slices.Backward(history) {
		if r.Info.Status == rcommon.StatusDeployed {
			return r
		}
	}
	return history[len(history)-1]
}

func revision(history []*release.Release, number int) (*release.Release, error) {
	for _, r := range history {
		if r.Version == number {
			return r, nil
		}
	}
	return nil, fmt.Errorf("revision %d does not exist", number)
}

// A markingDriver marks the record of an action from its first write on: Helm itself writes the
// description of an upgrade when it is complete.
type markingDriver struct {
	driver.Driver
	mark    Mark
	next    int                          // revision that this action creates
	created string                       // key of the record of this action
	failed  error                        // of its last update
	change  func(*release.Release) error // changes the revision that a rollback reads
}

func (d *markingDriver) Create(key string, record ri.Releaser) error {
	if r, ok := record.(*release.Release); ok && r.Version != d.next {
		return fmt.Errorf("another client of Helm created revision %d meanwhile", r.Version-1)
	}
	if err := d.describe(record); err != nil {
		return err
	}
	if err := d.Driver.Create(key, record); err != nil {
		return err
	}
	d.created = key
	return nil
}

func (d *markingDriver) Update(key string, record ri.Releaser) error {
	if key != d.created {
		return d.Driver.Update(key, record)
	}
	if d.failed = d.describe(record); d.failed == nil {
		d.failed = d.Driver.Update(key, record)
	}
	return d.failed
}

func (d *markingDriver) Get(key string) (ri.Releaser, error) {
	record, err := d.Driver.Get(key)
	if err != nil || d.change == nil {
		return record, err
	}
	r, ok := record.(*release.Release)
	if !ok {
		return nil, fmt.Errorf("cannot read the record %s: unknown type %T", key, record)
	}
	return r, d.change(r)
}

func (d *markingDriver) describe(record ri.Releaser) error {
	r, ok := record.(*release.Release)
	if !ok {
		return fmt.Errorf("cannot mark a record of type %T", record)
	}
	failure := ""
	if r.Info.Status == rcommon.StatusFailed {
		failure = r.Info.Description
	}
	r.Info.Description = d.mark.describe(failure)
	return nil
}

// boundedSecrets refuses records that the API server would refuse, before the first write of an
// action. It also counts what it lists: Helm skips records that it cannot decode.
type boundedSecrets struct {
	corev1client.SecretInterface
	listed int
}

func (b *boundedSecrets) List(ctx context.Context, options metav1.ListOptions) (*corev1.SecretList, error) {
	found, err := b.SecretInterface.List(ctx, options)
	if err == nil {
		b.listed = len(found.Items)
	}
	return found, err
}

func (b *boundedSecrets) Create(ctx context.Context, secret *corev1.Secret, options metav1.CreateOptions) (*corev1.Secret, error) {
	if err := fits(secret); err != nil {
		return nil, err
	}
	return b.SecretInterface.Create(ctx, secret, options)
}

func (b *boundedSecrets) Update(ctx context.Context, secret *corev1.Secret, options metav1.UpdateOptions) (*corev1.Secret, error) {
	if err := fits(secret); err != nil {
		return nil, err
	}
	return b.SecretInterface.Update(ctx, secret, options)
}

func fits(secret *corev1.Secret) error {
	if size := sizeOf(secret); size > MaxRecord {
		return fmt.Errorf("%w: %s bytes", ErrRecordTooLarge, strconv.Itoa(size))
	}
	return nil
}

func sizeOf(secret *corev1.Secret) int {
	size := 0
	for _, value := range secret.Data {
		size += len(value)
	}
	return size
}
