package upstream

import (
	"bytes"
	"context"
	"crypto"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	pgperrors "github.com/ProtonMail/go-crypto/openpgp/errors"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// KubernetesKey is the fingerprint of the key that signs the package repositories of the Kubernetes
// project, pkgs.k8s.io.
const KubernetesKey = "DE15B14486CD377B9E876E1A234654DA9A296436"

// maxKey is the maximum size of a file with keys, and of a signature.
const maxKey = 256 << 10

const clearsigned = "-----BEGIN PGP SIGNED MESSAGE-----"

// strongHashes are the hashes of accepted signatures.
func strongHashes() []crypto.Hash { return []crypto.Hash{crypto.SHA256, crypto.SHA384, crypto.SHA512} }

// keyring are the keys that a repository may be signed with.
type keyring struct {
	keys openpgp.EntityList
	now  func() time.Time
}

// fetchKeys reads the keys of a repository, and drops those that are not pinned.
func (r *Repository) fetchKeys(ctx context.Context, address string) (*keyring, error) {
	raw, err := r.Web.Get(ctx, address, maxKey)
	if err != nil {
		return nil, err
	}
	all, err := openpgp.ReadArmoredKeyRing(bytes.NewReader(raw))
	if err != nil {
		return nil, unproven(address, "cannot read the key: %w", err)
	}
	out := &keyring{now: r.now}
	for _, key := range all {
		if slices.ContainsFunc(r.Keys, func(pinned string) bool { return strings.EqualFold(pinned, fingerprint(key)) }) {
			out.keys = append(out.keys, key)
		}
	}
	if len(out.keys) == 0 {
		return nil, unproven(address, "the key is %s, but %s is pinned", fingerprints(all), strings.Join(r.Keys, " or "))
	}
	return out, nil
}

func fingerprint(key *openpgp.Entity) string {
	return strings.ToUpper(hex.EncodeToString(key.PrimaryKey.Fingerprint))
}

func fingerprints(keys openpgp.EntityList) string {
	var out []string
	for _, key := range keys[:min(len(keys), 4)] {
		out = append(out, fingerprint(key))
	}
	return strings.Join(out, " and ")
}

// open verifies a document that contains its signature, and returns the signed text. There must be
// nothing before and after it, which another reader could take for signed.
func (k *keyring) open(address string, raw []byte) ([]byte, error) {
	block, rest := clearsign.Decode(raw)
	if block == nil || !bytes.HasPrefix(raw, []byte(clearsigned)) || len(bytes.TrimSpace(rest)) > 0 {
		return nil, unproven(address, "it is not one signed text")
	}
	if err := k.verify(address, block.Bytes, block.ArmoredSignature.Body); err != nil {
		return nil, err
	}
	return block.Bytes, nil
}

// check verifies the armored signature of a document.
func (k *keyring) check(address string, document, signature []byte) error {
	block, err := armor.Decode(bytes.NewReader(signature))
	if err != nil || block.Type != openpgp.SignatureType {
		return unproven(address, "the signature is not readable")
	}
	return k.verify(address, document, block.Body)
}

func (k *keyring) verify(address string, document []byte, signature io.Reader) error {
	old, others, err := splitSignatures(signature)
	if err == nil {
		config := &packet.Config{Time: k.now}
		_, err = openpgp.CheckDetachedSignatureAndHash(k.keys, bytes.NewReader(document), bytes.NewReader(others), strongHashes(), config)
	}
	if len(old) > 0 && errors.Is(err, pgperrors.ErrUnknownIssuer) {
		err = k.verifyOld(document, old)
	}
	if err != nil {
		return &UnprovenError{Content: address, Err: explain(err, k.keys)}
	}
	return nil
}

// explain names the cause of a failed verification.
func explain(err error, keys openpgp.EntityList) error {
	switch {
	case errors.Is(err, pgperrors.ErrUnknownIssuer):
		return fmt.Errorf("it is not signed with the pinned key %s", fingerprints(keys))
	case errors.Is(err, pgperrors.ErrKeyExpired):
		return fmt.Errorf("the key %s has expired", fingerprints(keys))
	case errors.Is(err, pgperrors.ErrKeyRevoked):
		return fmt.Errorf("the key %s is revoked", fingerprints(keys))
	case errors.Is(err, pgperrors.ErrSignatureExpired):
		return errors.New("the signature has expired")
	}
	return fmt.Errorf("the signature is invalid: %w", err)
}
