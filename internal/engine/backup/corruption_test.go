package backup

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// TestCorruptedBackupsAreRefused corrupts a stored backup at random, and requires that Verify
// notices each corruption: with and without an identity, with and without a recorded digest.
//
// REFIT_CORRUPTIONS is the number of corruptions, REFIT_SEED their seed.
func TestCorruptedBackupsAreRefused(t *testing.T) {
	bench := newBench(t)
	counts := map[string]int{}
	for n := range fromEnvironment(t, "REFIT_CORRUPTIONS", 1000) {
		random := rand.New(rand.NewPCG(uint64(fromEnvironment(t, "REFIT_SEED", 1)), uint64(n)))
		mode := bench.modes[random.IntN(len(bench.modes))]
		name, objects := bench.corrupt(random, mode)
		counts[name]++
		_, err := Verify(t.Context(), Target{bench.store.with(objects), ""}, mode.expected, mode.identities)
		if err == nil {
			t.Errorf("%d: accepted after: %s (digest known: %t, identity: %t)", n, name, mode.expected.ManifestDigest != "", mode.identities != nil)
		}
	}
	for _, mode := range bench.modes { // the backup itself is accepted
		if _, err := Verify(t.Context(), Target{bench.store, ""}, mode.expected, mode.identities); err != nil {
			t.Errorf("the intact backup: %v", err)
		}
	}
	for _, c := range corruptions {
		t.Logf("%5d %s", counts[c.name], c.name)
		if counts[c.name] == 0 {
			t.Errorf("no corruption by: %s", c.name)
		}
	}
}

func fromEnvironment(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// bench has a backup to corrupt, and others to confuse it with: an earlier attempt of it, another
// one of the cluster, and one of another cluster.
type bench struct {
	store  *memory
	own    []string // the keys of the backup: two parts, the manifest
	others [][]string
	modes  []mode
}

type mode struct {
	expected   backup.Expected
	identities []age.Identity
}

func newBench(t *testing.T) *bench {
	t.Helper()
	k, m := newKeys(t), newMemory()
	b := &bench{store: m}
	store := func(cluster string, id backup.ID) (keys []string, digest string) {
		stored := mustStore(t, Target{m, ""}, k.request(cluster, id))
		for _, name := range []string{backup.PartEtcd, backup.PartHost, backup.ManifestName(stored.Digest)} {
			keys = append(keys, backup.Key("", id, name))
		}
		return keys, stored.Digest
	}
	own, digest := store(testCluster, testID)
	b.own = own
	for _, other := range []struct {
		cluster string
		id      backup.ID
	}{
		{testCluster, backup.ID{UID: testUID, Attempt: 1}},
		{testCluster, backup.ID{UID: otherUID, Attempt: 2}},
		{otherCluster, backup.ID{UID: otherUID, Attempt: 3}},
	} {
		keys, _ := store(other.cluster, other.id)
		b.others = append(b.others, keys)
	}
	for _, identities := range [][]age.Identity{nil, k.identities} {
		b.modes = append(b.modes,
			mode{backup.Expected{ID: testID, ClusterUID: testCluster, ManifestDigest: digest}, identities},
			mode{backup.Expected{ID: testID, ClusterUID: testCluster}, identities},
			mode{backup.Expected{ID: testID}, identities})
	}
	return b
}

// corrupt returns the objects of the store after a corruption that has changed them.
func (b *bench) corrupt(random *rand.Rand, in mode) (name string, objects map[string][]byte) {
	for {
		c := corruptions[random.IntN(len(corruptions))]
		if c.needsUnknownDigest && in.expected.ManifestDigest != "" {
			continue
		}
		objects := maps.Clone(b.store.objects)
		c.change(b, random, objects)
		if !maps.EqualFunc(objects, b.store.objects, bytes.Equal) {
			return c.name, objects
		}
	}
}

// corruptions change the objects of the backup. They replace contents and do not modify them.
var corruptions = []struct {
	name   string
	change func(b *bench, random *rand.Rand, objects map[string][]byte)
	// needsUnknownDigest is true for a change that a recorded digest makes harmless.
	needsUnknownDigest bool
}{
	{name: "flip a bit", change: func(b *bench, random *rand.Rand, objects map[string][]byte) {
		b.edit(random, objects, func(content []byte) []byte {
			content[random.IntN(len(content))] ^= 1 << random.IntN(8)
			return content
		})
	}},
	{name: "truncate", change: func(b *bench, random *rand.Rand, objects map[string][]byte) {
		b.edit(random, objects, func(content []byte) []byte { return content[:random.IntN(len(content))] })
	}},
	{name: "append", change: func(b *bench, random *rand.Rand, objects map[string][]byte) {
		b.edit(random, objects, func(content []byte) []byte { return append(content, make([]byte, 1+random.IntN(100))...) })
	}},
	{name: "overwrite a range", change: func(b *bench, random *rand.Rand, objects map[string][]byte) {
		b.edit(random, objects, func(content []byte) []byte {
			start := random.IntN(len(content))
			for i := start; i < min(start+1+random.IntN(64), len(content)); i++ {
				content[i] = byte(random.Uint32())
			}
			return content
		})
	}},
	{name: "remove a range", change: func(b *bench, random *rand.Rand, objects map[string][]byte) {
		b.edit(random, objects, func(content []byte) []byte {
			start := random.IntN(len(content))
			return slices.Delete(content, start, min(start+1+random.IntN(64), len(content)))
		})
	}},
	{name: "exchange two halves", change: func(b *bench, random *rand.Rand, objects map[string][]byte) {
		b.edit(random, objects, func(content []byte) []byte {
			at := random.IntN(len(content))
			return append(bytes.Clone(content[at:]), content[:at]...)
		})
	}},
	{name: "delete an object", change: func(b *bench, random *rand.Rand, objects map[string][]byte) {
		delete(objects, b.own[random.IntN(3)])
	}},
	{name: "swap the parts", change: func(b *bench, _ *rand.Rand, objects map[string][]byte) {
		objects[b.own[0]], objects[b.own[1]] = objects[b.own[1]], objects[b.own[0]]
	}},
	{name: "replay a part", change: func(b *bench, random *rand.Rand, objects map[string][]byte) {
		part := random.IntN(2)
		objects[b.own[part]] = objects[b.other(random)[part]]
	}},
	{name: "replay both parts", change: func(b *bench, random *rand.Rand, objects map[string][]byte) {
		other := b.other(random)
		objects[b.own[0]], objects[b.own[1]] = objects[other[0]], objects[other[1]]
	}},
	{name: "replay the content of a manifest", change: func(b *bench, random *rand.Rand, objects map[string][]byte) {
		objects[b.own[2]] = objects[b.other(random)[2]]
	}},
	{name: "change a digit of the manifest", change: func(b *bench, random *rand.Rand, objects map[string][]byte) {
		content := bytes.Clone(objects[b.own[2]])
		start := random.IntN(len(content))
		if at := bytes.IndexAny(content[start:], "0123456789"); at >= 0 {
			content[start+at] = '0' + byte(random.IntN(10))
		}
		objects[b.own[2]] = content
	}},
	{name: "replace the manifest", change: func(b *bench, random *rand.Rand, objects map[string][]byte) {
		b.copyManifest(random, objects)
		delete(objects, b.own[2])
	}},
	{name: "replay a whole backup", change: func(b *bench, random *rand.Rand, objects map[string][]byte) {
		other := b.copyManifest(random, objects)
		objects[b.own[0]], objects[b.own[1]] = objects[other[0]], objects[other[1]]
		delete(objects, b.own[2])
	}},
	{name: "add a second manifest", needsUnknownDigest: true, change: func(b *bench, random *rand.Rand, objects map[string][]byte) {
		b.copyManifest(random, objects)
	}},
}

// edit replaces the content of one object of the backup.
func (b *bench) edit(random *rand.Rand, objects map[string][]byte, change func(content []byte) []byte) {
	key := b.own[random.IntN(len(b.own))]
	objects[key] = change(bytes.Clone(objects[key]))
}

func (b *bench) other(random *rand.Rand) []string { return b.others[random.IntN(len(b.others))] }

// copyManifest copies the manifest of another backup under its own name.
func (b *bench) copyManifest(random *rand.Rand, objects map[string][]byte) (other []string) {
	other = b.other(random)
	name := other[2][strings.LastIndex(other[2], "/")+1:]
	objects[backup.Key("", testID, name)] = objects[other[2]]
	return other
}
