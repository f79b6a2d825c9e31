package restore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/refit-dev/refit/internal/engine/etcd"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/restore"
)

// replacement prepares the replacement of the member of this host while the others serve. It needs
// neither a backup nor an identity: the API and the other members know everything.
func (d *Desk) replacement(ctx context.Context, request Request) (Prepared, error) {
	d.Progress("observing the other members of etcd")
	live, err := d.live(ctx)
	if err != nil {
		return Prepared{}, noIdentity(err)
	}
	p, err := d.decide(ctx, request, live)
	if err == nil && p.Decision.Situation != restore.Replace {
		err = noIdentity(fmt.Errorf("the situation is %s", p.Decision.Situation))
	}
	return p, err
}

func noIdentity(why error) error {
	return fmt.Errorf("no identity: pass the file with the age identity of the backups with --identity=FILE. "+
		"Only a member that is replaced while the others serve needs none: %w", why)
}

// live returns the cluster that the other members serve, in place of a backup.
func (d *Desk) live(ctx context.Context) (restore.Backup, error) {
	member, err := ReadMember(filepath.Join(d.Manifests, kubeadm.Etcd+".yaml"))
	if err != nil {
		return restore.Backup{}, err
	}
	members, uid, err := d.Machine.Live(ctx, member.manifest, member.Name)
	if err != nil {
		return restore.Backup{}, err
	}
	if !slices.ContainsFunc(members, func(m restore.Member) bool { return m.Name == member.Name }) {
		return restore.Backup{}, fmt.Errorf("etcd has no member %s", member.Name)
	}
	return restore.Backup{ClusterUID: uid, Members: members}, nil
}

// Live returns the members as the first of the others reports them that answers.
func (h *Host) Live(ctx context.Context, manifest []byte, self string) ([]restore.Member, string, error) {
	config, err := etcd.ConfigFromManifest(manifest)
	if err != nil {
		return nil, "", err
	}
	uid, err := h.Cluster.ClusterUID(ctx)
	if err != nil {
		return nil, "", err
	}
	endpoints, err := h.Cluster.EtcdEndpoints(ctx)
	if err != nil {
		return nil, "", err
	}
	delete(endpoints, self)
	err = errors.New("the API has no other member of etcd")
	for _, node := range slices.Sorted(maps.Keys(endpoints)) {
		var members []restore.Member
		if members, err = membersAt(ctx, config.At(endpoints[node])); err == nil {
			return members, uid, nil
		}
	}
	return nil, "", err
}

// membersAt returns the voting members that a member reports.
func membersAt(ctx context.Context, at etcd.Config) ([]restore.Member, error) {
	client, err := etcd.Dial(at)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	found, err := client.Members(ctx)
	var members []restore.Member
	for _, m := range found {
		if !m.Learner {
			members = append(members, restore.Member{Name: m.Name, PeerURLs: m.PeerURLs, ClientURLs: m.ClientURLs})
		}
	}
	return members, err
}
