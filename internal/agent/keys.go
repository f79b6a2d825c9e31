package agent

import (
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// verify verifies an envelope with the keys that are pinned now: a key can be removed from the host
// at any time.
func (a *Agent) verify(envelope []byte) (artifact.Release, error) {
	keys, err := artifact.LoadKeys(a.KeysDir)
	if err != nil {
		return artifact.Release{}, err
	}
	return artifact.Verify(envelope, keys)
}

// keyIDs returns the fingerprints of the pinned keys. A host without usable keys runs its agent,
// which reports it and refuses every ClusterRelease.
func (a *Agent) keyIDs() []string {
	keys, err := artifact.LoadKeys(a.KeysDir)
	if err != nil {
		a.Log.Error("no release key is usable, so this host refuses every ClusterRelease", "error", err)
		return nil
	}
	var out []string
	for _, key := range keys {
		out = append(out, key.ID)
	}
	return out
}

// checkRelease returns a check that runs before the first change to the host: an upgrade that was
// accepted may have waited while its key was removed. A changed host finishes without the key.
func (a *Agent) checkRelease(envelope []byte) func() error {
	return func() error {
		if _, err := a.verify(envelope); err != nil {
			return node.ManualIntervention(node.RefusedRelease, err,
				"Sign the ClusterRelease with a key that is pinned on the host, apply it and plan again; or abort the upgrade",
				"no key that is pinned now has signed the ClusterRelease of this upgrade")
		}
		return nil
	}
}
